// Reads the configuration of a Strapi project (`config/`) in terms of octavo.config, below which it applies.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkMailServer, checkSender, originProblem } from './checks.js'
import type { Environment } from './environment.js'
import { fileOf, merged, messageOf, readConfigFile } from './files.js'
import { maxQueryParameters } from './limits.js'
import { givenStorage, storageOf, storageProblem } from './storage.js'

type File = 'admin' | 'api' | 'database' | 'middlewares' | 'plugins' | 'server'

/**
 * Reads Strapi's `config/<name>`, overridden by `config/env/<NODE_ENV>/<name>`; null without such a file.
 * @throws ConfigError if a file cannot be read
 */
export async function readStrapiConfig(
  root: string,
  name: File,
  environment: Environment,
): Promise<{ readonly config: unknown; readonly source: string } | null> {
  const names = filesOf(root, name, environment)
  if (names.length === 0) return null
  let config: unknown = {}
  for (const file of names) {
    const content = await readConfigFile(root, file, true)
    config = merged(config, typeof content === 'function' ? await content({ env: environmentReader(environment) }) : content)
  }
  return { config, source: names.join(' and ') }
}

/** The names of Strapi's `config/<name>` and of that for the mode, as far as they exist. */
function filesOf(root: string, name: File, environment: Environment): readonly string[] {
  const paths = [`config/${name}`, `config/env/${environment.NODE_ENV ?? 'development'}/${name}`]
  return paths.map((path) => fileOf(root, path)).filter((file) => file !== null)
}

/** The files that mention one of these words: others are not run, since their code may depend on Strapi. */
export function strapiFilesWith(words: readonly string[], root: string, name: File, environment: Environment): readonly string[] {
  const files = filesOf(root, name, environment)
  const known = new Set(files.flatMap((file) => readFileSync(join(root, file), 'utf8').match(/[\w-]+/g) ?? []))
  return words.some((word) => known.has(word)) ? files : []
}

/** A value for octavo.config, and what of Strapi's is not applied, as a clause. Without a value, the setting has no effect. */
interface Converted {
  readonly value?: unknown
  readonly problem?: string
}

/** A setting of Strapi with the same meaning as one of octavo.config. */
interface Setting {
  /** Its path in the file. In `config/middlewares`, a path begins with the name of a middleware. */
  readonly from: string
  /** Its path in octavo.config. */
  readonly to: string
  /** The environment variable that takes precedence. */
  readonly variable?: string
  /** The word that shows that a file may have it; absent: the last part of the path. */
  readonly word?: string
  /** Absent: the value is the same. */
  convert?(value: unknown, environment: Environment): Converted
}

const settings: Readonly<Partial<Record<File, readonly Setting[]>>> = {
  server: [
    { from: 'host', to: 'host', variable: 'HOST' },
    { from: 'port', to: 'port', variable: 'PORT', convert: (value) => ({ value: asNumber(value) }) },
    { from: 'url', to: 'url', variable: 'PUBLIC_URL', convert: addressOf },
    { from: 'proxy', to: 'trustProxy', variable: 'OCTAVO_TRUST_PROXY', convert: proxiesOf },
    { from: 'webhooks.defaultHeaders', to: 'webhooks.defaultHeaders', convert: headersOf },
  ],
  middlewares: [
    { from: 'strapi::query.arrayLimit', to: 'api.rest.arrayLimit', convert: listLimitOf },
    { from: 'strapi::cors.origin', to: 'cors.origins', convert: originsOf },
    { from: 'strapi::cors.headers', to: 'cors.headers', convert: (value) => ({ value: asList(value) }) },
    { from: 'strapi::body.jsonLimit', to: 'limits.bodyBytes', convert: (value) => ({ value: quantityOf(value, sizes, 1) }) },
    { from: 'strapi::body.formidable.maxFileSize', to: 'limits.fileBytes', convert: (value) => ({ value: asNumber(value) }) },
  ],
  plugins: [
    { from: 'users-permissions.jwtManagement', to: 'auth.jwtManagement' },
    { from: 'users-permissions.jwt.expiresIn', to: 'auth.jwtLifespan', convert: (value) => ({ value: quantityOf(value, times, 1_000) }) },
    ...['accessTokenLifespan', 'maxRefreshTokenLifespan', 'idleRefreshTokenLifespan'].map((name) => ({
      from: `users-permissions.sessions.${name}`,
      to: `auth.${name}`,
      convert: (value: unknown) => ({ value: (asNumber(value) as number) * 1_000 }),
    })),
    { from: 'users-permissions.register.allowedFields', to: 'auth.register.allowedFields' },
    { from: 'upload.sizeLimit', to: 'limits.fileBytes', convert: (value) => ({ value: asNumber(value) }) },
    { from: 'upload', to: 'uploads.storage', word: 'provider', convert: asStorage },
    { from: 'email', to: 'mail', variable: 'SMTP_URL', word: 'provider', convert: asMail },
  ],
}

/** Settings from one place in Strapi's configuration, in the form of octavo.config. */
export interface StrapiSettings {
  readonly config: object
  /** The files. */
  readonly source: string
}

/**
 * Reads the settings of `config/server`, `config/middlewares` and `config/plugins` that octavo.config has too, unless `given`, its content, or
 * a variable sets them. Never throws: what cannot be applied is a sentence for the log.
 * @param isValid true for a valid octavo.config
 */
export async function readStrapiSettings(
  root: string,
  environment: Environment,
  given: unknown,
  isValid: (config: object) => boolean,
): Promise<{ readonly read: readonly StrapiSettings[]; readonly warnings: readonly string[] }> {
  const read: { readonly to: string; readonly value: unknown; readonly source: string }[] = []
  const warnings: string[] = []
  for (const [name, all] of Object.entries(settings) as [File, readonly Setting[]][]) {
    const isOpen = ({ to, variable }: Setting) =>
      valueAt(given, to) === undefined && (variable === undefined || environment[variable] === undefined)
    const wanted = all.filter((setting) => isOpen(setting) && strapiFilesWith([wordOf(setting)], root, name, environment).length > 0)
    if (wanted.length === 0) continue
    const source = filesOf(root, name, environment).join(' and ')
    try {
      const config = byName(name, (await readStrapiConfig(root, name, environment))!.config)
      for (const { from, to, convert = same } of wanted) {
        const own = valueAt(config, from)
        if (own === undefined || own === null) continue
        const { value, problem } = convert(own, environment)
        const isUsable = value !== undefined && isValid(nested(to, value))
        const why = problem ?? (value === undefined || isUsable ? null : `it is ${shown(own)}`)
        if (why !== null) warnings.push(`${from} in ${source} is not applied (${why}). Set ${to} in octavo.config`)
        if (isUsable) read.push({ to, value, source })
      }
    } catch (error) {
      const places = wanted.map(({ to }) => to).join(', ')
      warnings.push(`${source} is not applied (${messageOf(error)}). Set ${places} in octavo.config as far as they differ`)
    }
  }
  // Strapi refuses a file that is above either of its two limits.
  const applied = read.filter(({ to, value }) => !read.some((other) => other.to === to && (other.value as number) < (value as number)))
  return { read: applied.map(({ to, value, source }) => ({ config: nested(to, value), source })), warnings }
}

const secrets = [
  { file: 'admin', from: 'apiToken.salt', variable: 'API_TOKEN_SALT' },
  { file: 'admin', from: 'auth.secret', variable: 'ADMIN_JWT_SECRET' },
  { file: 'plugins', from: 'users-permissions.jwtSecret', variable: 'JWT_SECRET' },
] as const

/**
 * Reads the secrets that `config/admin` and `config/plugins` have under other variables, or as text, by the usual variable. Tokens of Strapi
 * are only valid with them. Never throws: without them, the start asks for the variables.
 */
export async function readStrapiSecrets(root: string, environment: Environment): Promise<Environment> {
  const found: Record<string, string> = {}
  for (const { file, from, variable } of secrets) {
    const isWanted = environment[variable] === undefined && strapiFilesWith([wordOf({ from })], root, file, environment).length > 0
    const read = isWanted ? await readStrapiConfig(root, file, environment).catch(() => null) : null
    const value = valueAt(byName(file, read?.config), from)
    if (typeof value === 'string' && value !== '') found[variable] = value
  }
  return found
}

const same = (value: unknown): Converted => ({ value })

const wordOf = ({ from, word }: Pick<Setting, 'from' | 'word'>): string => word ?? from.slice(from.lastIndexOf('.') + 1)

type Level = Readonly<Record<string, unknown>> | null | undefined

const valueAt = (config: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((level, key) => (typeof level === 'object' ? (level as Level)?.[key] : undefined), config)

const nested = (path: string, value: unknown): object =>
  path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as object

/** The settings of plugins, or of middlewares, by name. */
function byName(name: File, config: unknown): unknown {
  if (name === 'server' || name === 'admin') return config
  const entries = Array.isArray(config)
    ? config.map((entry: unknown) => [valueAt(entry, 'name'), entry] as const)
    : Object.entries((config ?? {}) as object)
  return Object.fromEntries(entries.map(([key, entry]) => [key, valueAt(entry, 'config')]))
}

/** At most 40 characters. */
const shown = (value: unknown): string =>
  typeof value === 'function' ? 'a function' : (JSON.stringify(value) ?? String(value)).slice(0, 40)

/** `env('PORT')` in place of `env.int` returns a text. */
const asNumber = (value: unknown): unknown => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value)

const asList = (value: unknown): unknown => (typeof value === 'string' ? value.split(',').map((part) => part.trim()) : value)

type Units = readonly (readonly [name: RegExp, factor: number])[]

const times: Units = [
  [/^(?:milliseconds?|msecs?|ms)?$/, 1],
  [/^(?:seconds?|secs?|s)$/, 1_000],
  [/^(?:minutes?|mins?|m)$/, 60_000],
  [/^(?:hours?|hrs?|h)$/, 3_600_000],
  [/^(?:days?|d)$/, 86_400_000],
  [/^(?:weeks?|w)$/, 604_800_000],
  [/^(?:years?|yrs?|y)$/, 31_557_600_000],
]

const sizes: Units = [
  [/^b?$/, 1],
  [/^kb$/, 1_024],
  [/^mb$/, 1_048_576],
  [/^gb$/, 1_073_741_824],
]

/** Reads `7d` or `10mb`; a number is in units of `factor`. Returns other values unchanged. */
function quantityOf(value: unknown, units: Units, factor: number): unknown {
  if (typeof value === 'number') return value * factor
  const [, amount, name] = (typeof value === 'string' && /^(\d{1,15}(?:\.\d{1,15})?) ?([a-z]{0,12})$/i.exec(value.trim())) || []
  const unit = units.find(([known]) => name !== undefined && known.test(name.toLowerCase()))
  return unit === undefined ? value : Math.floor(Number(amount) * unit[1])
}

/** Strapi takes a path, too, where a proxy serves it below another site. */
function addressOf(value: unknown): Converted {
  return typeof value === 'string' && !/^https?:/.test(value) ? {} : { value }
}

function proxiesOf(value: unknown): Converted {
  const isTrusted = typeof value === 'object' ? valueAt(value, 'koa') : value
  return isTrusted === true ? { value: 1 } : {}
}

function headersOf(value: unknown): Converted {
  if (typeof value !== 'object' || value === null) return { problem: 'it is not an object' }
  const set = Object.entries(value).filter(([, one]) => one !== undefined && one !== null)
  return { value: Object.fromEntries(set.map(([name, one]) => [name, String(one)])) }
}

function listLimitOf(given: unknown): Converted {
  if (!Number.isSafeInteger(given) || (given as number) < 1) return { problem: `it is ${shown(given)}, not a positive integer` }
  return (given as number) > maxQueryParameters
    ? { value: maxQueryParameters, problem: `it is ${String(given)}; a query string has at most ${maxQueryParameters} parameters` }
    : { value: given }
}

/** A list that contains `*` allows every origin. Origins that no browser sends match nothing in Strapi either. */
function originsOf(value: unknown): Converted {
  const list = asList(value)
  if (!Array.isArray(list) || !list.every((one) => typeof one === 'string')) return { problem: `it is ${shown(value)}` }
  if (list.includes('*')) return { value: '*' }
  const invalid = list.find((one) => originProblem(one) !== null)
  return {
    value: list.filter((one) => originProblem(one) === null),
    ...(invalid === undefined ? {} : { problem: originProblem(invalid)! }),
  }
}

/** The name of a provider without the beginning of its package's. */
const providerOf = (plugin: unknown): unknown => {
  const provider = valueAt(plugin, 'provider')
  return typeof provider === 'string' ? provider.replace(/^@strapi\/provider-(?:upload|email)-/, '') : provider
}

function asStorage(upload: unknown, environment: Environment): Converted {
  const provider = providerOf(upload)
  if (provider === undefined || provider === 'local') return {}
  if (provider !== 'aws-s3') return { problem: `the provider is ${shown(provider)}; new files go to the uploads folder` }
  const at = (path: string) => valueAt(upload, `providerOptions.${path}`)
  const own = {
    provider,
    bucket: at('s3Options.params.Bucket'),
    region: at('s3Options.region'),
    accessKeyId: at('s3Options.credentials.accessKeyId'),
    secretAccessKey: at('s3Options.credentials.secretAccessKey'),
    sessionToken: at('s3Options.credentials.sessionToken'),
    endpoint: at('s3Options.endpoint'),
    forcePathStyle: at('s3Options.forcePathStyle'),
    acl: at('s3Options.params.ACL'),
    signedUrlExpires: at('s3Options.params.signedUrlExpires'),
    baseUrl: at('baseUrl'),
    rootPath: at('rootPath'),
  }
  const value = Object.fromEntries(Object.entries(own).filter(([, one]) => one !== undefined && one !== null && one !== ''))
  const given = givenStorage().safeParse(value)
  const complete = given.success ? storageOf(given.data, environment) : given
  return complete.success ? { value } : { problem: `${storageProblem(complete.error)} New files go to the uploads folder` }
}

function asMail(email: unknown): Converted {
  const provider = providerOf(email)
  if (provider === undefined || provider === 'sendmail') return {}
  if (provider !== 'nodemailer') return { problem: `the provider is ${shown(provider)}; e-mails are sent by SMTP` }
  const at = (path: string) => valueAt(email, path)
  const [host, port, user, password] = ['host', 'port', 'auth.user', 'auth.pass'].map((name) => at(`providerOptions.${name}`))
  if (typeof host !== 'string' || host === '') return { problem: 'providerOptions.host is missing' }
  const account =
    typeof user === 'string' && user !== '' ? `${encodeURIComponent(user)}:${encodeURIComponent(String(password ?? ''))}@` : ''
  const isSecure = at('providerOptions.secure') === true || (at('providerOptions.secure') === undefined && Number(port) === 465)
  const url = `${isSecure ? 'smtps' : 'smtp'}://${account}${host}${port === undefined || port === '' ? '' : `:${String(port)}`}`
  const from = at('settings.defaultFrom')
  const isFrom = typeof from === 'string' && from !== ''
  try {
    checkMailServer('providerOptions', url)
    if (isFrom) checkSender('settings.defaultFrom', from)
    return { value: { url, ...(isFrom ? { from } : {}) } }
  } catch (error) {
    return { problem: messageOf(error).replace(/\.$/, '') }
  }
}

/** The parts of a Strapi project's `config/database` that Octavo uses. */
export interface StrapiDatabase {
  /** The file of a SQLite database; null if unknown. */
  readonly filename: string | null
  /** Null if unknown. */
  readonly client: string | null
  /** `connection` as the file has it, where it names a server. */
  readonly connection: unknown
  /** Why the file is unknown. */
  readonly problem: string | null
}

/** Reads `config/database` of a Strapi project; null without one. Its code may depend on Strapi, so errors become a `problem`. */
export async function readStrapiDatabase(root: string, environment: Environment): Promise<StrapiDatabase | null> {
  const files = filesOf(root, 'database', environment)
  if (files.length === 0) return null
  const unknown = (why: string, client: string | null = null) => ({
    filename: null,
    client,
    connection: null,
    problem: `${files.join(' and ')} does not name the database file (${why})`,
  })
  try {
    const { config } = (await readStrapiConfig(root, 'database', environment))!
    const { connection: whole = {} } = config as { connection?: { client?: unknown; connection?: { filename?: unknown } } }
    const { client, connection = {} } = whole
    const { filename } = connection
    if (typeof client === 'string' && !/sqlite/.test(client)) return { filename: null, client, connection: whole, problem: null }
    return typeof filename === 'string' && filename !== ''
      ? { filename, client: 'sqlite', connection: null, problem: null }
      : unknown('connection.connection.filename is not a string', typeof client === 'string' ? 'sqlite' : null)
  } catch (error) {
    return unknown(messageOf(error))
  }
}

/** Creates the `env` function that Strapi passes to configuration files: `env('NAME', fallback)`, `env.int('NAME', fallback)` … */
function environmentReader(environment: Environment) {
  const reader =
    <Value>(parse: (text: string) => Value) =>
    (name: string, fallback?: Value): Value | undefined => {
      const text = environment[name]
      return text === undefined ? fallback : parse(text)
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
      oneOf: (name: string, allowed: readonly string[], fallback?: string) =>
        allowed.includes(environment[name] ?? '') ? environment[name] : fallback,
    },
  )
}
