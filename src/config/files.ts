// The files that say how a project is configured: .env, octavo.config, and of Strapi's own `config/` what concerns answers.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseEnv } from 'node:util'
import { ApiError, ConfigError } from '../errors/errors.js'

export type Environment = Readonly<Record<string, string | undefined>>

/** What a project's .env sets; a name without a value is not set. @throws ConfigError where it cannot be read */
export const readDotEnv = (root: string): Environment => setOnly(parseEnv(textOfDotEnv(root)) as Environment)

function textOfDotEnv(root: string): string {
  const path = dotEnvOf(root)
  try {
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  } catch (error) {
    throw new ConfigError(`.env cannot be read (${(error as Error).message}).`)
  }
}

export const dotEnvOf = (root: string): string => join(root, '.env')

/** An empty variable is one that nobody set: `JWT_SECRET: ${JWT_SECRET}` of a compose file sends such. */
export const setOnly = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''))

/** Stands in .env above the secrets that a start has made: the project was started once. */
export const madeLine = '# Made by Octavo when this project was started first. API tokens and sessions depend on these.'

/** Whether .env has secrets that a start has made. */
export const hasMadeSecrets = (root: string): boolean => textOfDotEnv(root).includes(madeLine)

const endings = ['json', 'js', 'mjs', 'cjs', 'ts']

/** What octavo.config says, and which file it is. @throws ConfigError for a file that cannot be read */
export async function readOctavoConfig(root: string): Promise<{ config: unknown; source: string }> {
  const name = fileOf(root, 'octavo.config')
  return name === null ? { config: {}, source: 'octavo.config' } : { config: await read(root, name), source: name }
}

/**
 * What Strapi's `config/<name>` says, with what `config/env/<NODE_ENV>/<name>` puts over it; null without such a file.
 * @throws ConfigError for a file that cannot be read
 */
export async function readStrapiConfig(
  root: string,
  name: 'api' | 'database',
  environment: Environment,
): Promise<{ readonly config: unknown; readonly source: string } | null> {
  const names = strapiConfigFiles(root, name, environment)
  if (names.length === 0) return null
  let config: unknown = {}
  for (const file of names) {
    const said = await read(root, file, true)
    config = merged(config, typeof said === 'function' ? await said({ env: environmentReader(environment) }) : said)
  }
  return { config, source: names.join(' and ') }
}

function strapiConfigFiles(root: string, name: string, environment: Environment): readonly string[] {
  const places = [`config/${name}`, `config/env/${environment.NODE_ENV ?? 'development'}/${name}`]
  return places.map((place) => fileOf(root, place)).filter((file) => file !== null)
}

/** What a Strapi project's `config/database` says, as far as it can be told. */
export interface StrapiDatabase {
  /** The file of a SQLite database; null where it cannot be told. */
  readonly filename: string | null
  readonly client: string | null
  /** Why it cannot be told. */
  readonly problem: string | null
}

/** Reads `config/database` of a Strapi project; null without one. Its code may need what only Strapi has, so nothing is thrown. */
export async function readStrapiDatabase(root: string, environment: Environment): Promise<StrapiDatabase | null> {
  const files = strapiConfigFiles(root, 'database', environment)
  if (files.length === 0) return null
  const unknown = (why: string) => ({
    filename: null,
    client: null,
    problem: `${files.join(' and ')} does not tell the database's file (${why})`,
  })
  try {
    const { config } = (await readStrapiConfig(root, 'database', environment))!
    const { client, connection = {} } =
      (config as { connection?: { client?: unknown; connection?: { filename?: unknown } } }).connection ?? {}
    const { filename } = connection
    if (typeof client === 'string' && !/sqlite/.test(client)) return { filename: null, client, problem: null }
    return typeof filename === 'string' && filename !== ''
      ? { filename, client: null, problem: null }
      : unknown('connection.connection.filename is no text')
  } catch (error) {
    return unknown((error as Error).message)
  }
}

export function dependsOnStrapi(root: string): boolean {
  const path = join(root, 'package.json')
  if (!existsSync(path)) return false
  try {
    const { dependencies = {} } = JSON.parse(readFileSync(path, 'utf8')) as { dependencies?: Record<string, string> }
    return dependencies['@strapi/strapi'] !== undefined
  } catch {
    throw new ConfigError('package.json is not valid JSON.')
  }
}

function fileOf(root: string, place: string): string | null {
  return endings.map((ending) => `${place}.${ending}`).find((name) => existsSync(join(root, name))) ?? null
}

/** `isStrapis`: a file that Strapi runs from where its build puts it, `dist/config`, when it is TypeScript. */
async function read(root: string, name: string, isStrapis = false): Promise<unknown> {
  const path = join(root, name)
  if (name.endsWith('.json')) {
    try {
      return JSON.parse(readFileSync(path, 'utf8'))
    } catch (error) {
      throw new ConfigError(`${name} is not valid JSON: ${(error as Error).message}.`)
    }
  }
  try {
    if (name.endsWith('.ts')) return isStrapis ? await runTypeScript(path, join(root, 'dist', name)) : await importTypeScript(path)
    return ((await import(pathToFileURL(path).href)) as { default: unknown }).default
  } catch (error) {
    throw new ConfigError(`${name} cannot be loaded: ${(error as Error).message}.`)
  }
}

/** The library is loaded where there is such a file; a project need not have Octavo installed to import what types its file. */
async function importTypeScript(path: string): Promise<unknown> {
  const { createJiti } = await import('jiti')
  const octavo = { defineConfig: (config: unknown) => config, ApiError }
  return createJiti(path, { fsCache: false, moduleCache: false, virtualModules: { octavo } }).import(path, { default: true })
}

/** Runs a file as if it stood at `place`, so that `__dirname` is what it is for Strapi; where it imports others, from where it stands. */
async function runTypeScript(path: string, place: string): Promise<unknown> {
  const { createJiti } = await import('jiti')
  const source = readFileSync(path, 'utf8')
  if (!/\b__dirname\b|\bimport\.meta\b/.test(source)) return importTypeScript(path)
  const jiti = createJiti(path, { fsCache: false, moduleCache: false, interopDefault: true })
  const module = (await jiti.evalModule(source, { filename: place, async: true })) as { default?: unknown }
  return module.default ?? module
}

function merged(below: unknown, above: unknown): unknown {
  const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isPlain(below) || !isPlain(above)) return above
  const names = [...new Set([...Object.keys(below), ...Object.keys(above)])]
  return Object.fromEntries(names.map((name) => [name, name in above ? merged(below[name], above[name]) : below[name]]))
}

/** `env` as Strapi hands it to configuration files: `env('NAME', otherwise)`, `env.int('NAME', otherwise)` … */
function environmentReader(environment: Environment) {
  const reader =
    <Value>(parse: (text: string) => Value) =>
    (name: string, otherwise?: Value): Value | undefined => {
      const text = environment[name]
      return text === undefined ? otherwise : parse(text)
    }
  const list = (text: string): string[] =>
    text
      .replace(/^\[|\]$/g, '')
      .split(',')
      .map((part) => part.trim().replace(/^"|"$/g, ''))
  return Object.assign(
    reader((text) => text),
    {
      int: reader((text) => Number.parseInt(text, 10)),
      float: reader((text) => Number.parseFloat(text)),
      bool: reader((text) => text === 'true'),
      json: reader((text) => JSON.parse(text) as unknown),
      array: reader(list),
      date: reader((text) => new Date(text)),
      oneOf: (name: string, allowed: readonly string[], otherwise?: string) =>
        allowed.includes(environment[name] ?? '') ? environment[name] : otherwise,
    },
  )
}
