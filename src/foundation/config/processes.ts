// How many processes of `octavo start` serve a project together.
import { availableParallelism } from 'node:os'
import * as z from 'zod'
import { ConfigError } from '../errors/errors.js'
import type { Environment } from './environment.js'

/** The most processes; each takes the memory of a service. */
const mostProcesses = 128

/** `processes` in octavo.config. */
export const processSettings = () => z.union([z.literal('auto'), z.int().min(1).max(mostProcesses)]).default(1)

/** The number that a text names. `source`: what the text was given by. @throws ConfigError that names the source */
function countOf(text: string, source: string): number {
  if (text === 'auto') return availableParallelism()
  const count = Number(text)
  if (/^\d+$/.test(text) && count >= 1 && count <= mostProcesses) return count
  throw new ConfigError(`${source} is "${text}"; it must be auto or a whole number from 1 to ${mostProcesses}.`)
}

/** The number of processes. @throws ConfigError that names the invalid value */
export function processesOf({ OCTAVO_PROCESSES }: Environment, given: z.output<ReturnType<typeof processSettings>>): number {
  return countOf(OCTAVO_PROCESSES ?? String(given), OCTAVO_PROCESSES === undefined ? 'processes' : 'OCTAVO_PROCESSES')
}

/** The same number for an option of the command. @throws ConfigError that names the option */
export const processOption = (text: string): number => countOf(text, '--processes')
