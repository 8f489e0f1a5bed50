// The variables of a project's .env as its code sees them: in process.env, where the environment of the process takes precedence.
import type { Environment } from './environment.js'

/** What a .env file has added to process.env. It is no part of the environment of the process. */
const added = new Map<string, string>()

/** The environment of the process, without what a .env file has added to it. */
export const processEnvironment = (): Environment =>
  Object.fromEntries(Object.entries(process.env).filter(([name, value]) => added.get(name) !== value))

/** Adds the variables of a .env file to process.env, in place of those of the project that was loaded before. */
export function addToProcess(variables: Environment): void {
  for (const [name, value] of added) if (process.env[name] === value) delete process.env[name]
  added.clear()
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined || (process.env[name] ?? '') !== '') continue
    process.env[name] = value
    added.set(name, value)
  }
}
