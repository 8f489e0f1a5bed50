// OCTAVO_CONFIG: settings as JSON in the environment, merged over octavo.config, for containers that have no file of their own.
import { ConfigError } from '../errors/errors.js'
import type { Environment } from './environment.js'
import { merged } from './files.js'

const variable = 'OCTAVO_CONFIG'

/** Returns what a setting was read from, by the path of the setting. */
export type SourceOf = (path: readonly PropertyKey[]) => string

/**
 * Merges OCTAVO_CONFIG, if it is set, over the configuration of a file: objects key by key, lists and other values as a whole.
 * @throws ConfigError if it is not a JSON object
 */
export function withVariable(
  config: unknown,
  file: string,
  environment: Environment,
): { readonly config: unknown; readonly source: SourceOf } {
  const text = environment[variable]
  if (text === undefined) return { config, source: () => file }
  const given = read(text)
  return { config: merged(config, given), source: (path) => (has(given, path) ? variable : file) }
}

function read(text: string): unknown {
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch (error) {
    // The message quotes the text, which may contain secrets.
    const [place = ''] = /\bat position \d+/.exec((error as Error).message) ?? []
    throw new ConfigError(`${variable} is not valid JSON${place === '' ? '' : ` ${place}`}.`)
  }
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given
  throw new ConfigError(`${variable} must be a JSON object, like {"cors":{"origins":["https://www.example.org"]}}.`)
}

/** True if the value at a path, or the innermost one above it that is no object, comes from `given`. */
function has(given: unknown, path: readonly PropertyKey[]): boolean {
  let at = given
  for (const key of path) {
    if (typeof at !== 'object' || at === null) return true
    if (!Object.hasOwn(at, key)) return false
    at = (at as Readonly<Record<PropertyKey, unknown>>)[key]
  }
  return true
}
