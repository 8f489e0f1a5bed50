// The files that say how a project is configured: .env, octavo.config, and of Strapi's own `config/` what concerns answers.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseEnv } from 'node:util'
import { ApiError, ConfigError } from './errors.js'

export type Environment = Readonly<Record<string, string | undefined>>

export function readDotEnv(path: string): Environment {
  return existsSync(path) ? (parseEnv(readFileSync(path, 'utf8')) as Environment) : {}
}

const endings = ['json', 'js', 'mjs', 'cjs', 'ts']

/** What octavo.config says, and which file it is. @throws ConfigError for a file that cannot be read */
export async function readOctavoConfig(root: string): Promise<{ config: unknown; source: string }> {
  const name = fileOf(root, 'octavo.config')
  return name === null ? { config: {}, source: 'octavo.config' } : { config: await read(root, name), source: name }
}

/**
 * What Strapi's `config/api` says, with what `config/env/<NODE_ENV>/api` puts over it; null without such a file.
 * @throws ConfigError for a file that cannot be read
 */
export async function readStrapiConfig(
  root: string,
  environment: Environment,
): Promise<{ readonly config: unknown; readonly source: string } | null> {
  const places = ['config/api', `config/env/${environment.NODE_ENV ?? 'development'}/api`]
  const names = places.map((place) => fileOf(root, place)).filter((name) => name !== null)
  if (names.length === 0) return null
  let config: unknown = {}
  for (const name of names) {
    const said = await read(root, name)
    config = merged(config, typeof said === 'function' ? said({ env: environmentReader(environment) }) : said)
  }
  return { config, source: names.join(' and ') }
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

async function read(root: string, name: string): Promise<unknown> {
  const path = join(root, name)
  if (name.endsWith('.json')) {
    try {
      return JSON.parse(readFileSync(path, 'utf8'))
    } catch (error) {
      throw new ConfigError(`${name} is not valid JSON: ${(error as Error).message}.`)
    }
  }
  try {
    if (name.endsWith('.ts')) return await importTypeScript(path)
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
