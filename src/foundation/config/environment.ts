// Single settings from environment variables.
import { ConfigError } from '../errors/errors.js'

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Removes empty variables, which count as not set: `JWT_SECRET: ${JWT_SECRET}` in a compose file produces them. */
export const setOnly = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''))

/** A whole number from `least` to `most`; undefined if the variable is not set. @throws ConfigError that names the variable */
export function integerOf(environment: Environment, name: string, least = 0, most = Number.MAX_SAFE_INTEGER): number | undefined {
  const value = environment[name]
  if (value === undefined || value === '') return undefined
  if (!/^\d+$/.test(value)) throw new ConfigError(`${name} is "${value}"; it must be a whole number.`)
  if (Number(value) < least || Number(value) > most) throw new ConfigError(`${name} is ${value}; it must be from ${least} to ${most}.`)
  return Number(value)
}

/** `true` or `false`; undefined if the variable is not set. @throws ConfigError that names the variable */
export function booleanOf(environment: Environment, name: string): boolean | undefined {
  const value = environment[name]
  if (value === undefined || value === '') return undefined
  if (value !== 'true' && value !== 'false') throw new ConfigError(`${name} is "${value}"; it must be true or false.`)
  return value === 'true'
}

/** Variables that a .env file added to process.env; not part of the environment of the process. */
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
