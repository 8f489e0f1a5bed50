// Reads the configuration of a Strapi project (`config/`) in terms of octavo.config, below which it applies.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkMailServer, checkSender, originProblem } from './checks.js'
import type { Environment } from './environment.js'
import { fileOf, merged, messageOf, readConfigFile } from './files.js'
import { maxBodyBytes, maxQueryParameters } from './limits.js'
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
  const names = strapiFiles(root, name, environment)
  if (names.length === 0) return null
  let config: unknown = {}
  for (const file of names) {
    const content = await readConfigFile(root, file, true)
    config = merged(config, typeof content === 'function' ? await content({ env: environmentReader(environment) }) : content)
  }
  return { config, source: names.join(' and ') }
}

/** The existing files of Strapi's `config/<name>`: the general one, and that of the mode. */
export function strapiFiles(root: string, name: File, environment: Environment): readonly string[] {
  const paths = [`config/${name}`, `config/env/${environment.NODE_ENV ?? 'development'}/${name}`]
  return paths.map((path) => fileOf(root, path)).filter((file) => file !== null)
}

/** The words in Strapi's `config/<name>`: a file without the wanted ones is not run, since its code may depend on Strapi. */
export const wordsOfStrapi = (root: string, name: File, environment: Environment): ReadonlySet<string> =>
  new Set(strapiFiles(root, name, environment).flatMap((file) => readFileSync(join(root, file), 'utf8').match(/[\w-]+/g) ?? []))

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
    { from: 'strapi::body.jsonLimit', to: 'limits.bodyBytes', convert: bodySizeOf },
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
    { from: 'users-permissions.sessions.httpOnly', to: 'auth.cookie.always' },
    ...['name', 'sameSite', 'domain'].map((name) => ({
      from: `users-permissions.sessions.cookie.${name}`,
      to: `auth.cookie.${name}`,
      word: 'cookie',
    })),
    { from: 'upload.sizeLimit', to: 'limits.fileBytes', convert: (value) => ({ value: asNumber(value) }) },
    { from: 'upload.security.allowedTypes', to: 'uploads.allowedTypes' },
    { from: 'upload.security.deniedTypes', to: 'uploads.deniedTypes' },
    { from: 'upload', to: 'uploads.storage', word: 'provider', convert: asStorage },
    { from: 'email', to: 'mail.url', variable: 'SMTP_URL', word: 'provider', convert: mailServerOf },
    { from: 'email.settings.defaultFrom', to: 'mail.from', variable: 'MAIL_FROM', convert: senderOf },
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
    const source = strapiFiles(root, name, environment).join(' and ')
    let wanted: readonly Setting[] = []
    try {
      const words = wordsOfStrapi(root, name, environment)
      wanted = all.filter((setting) => isOpen(setting) && words.has(wordOf(setting)))
      if (wanted.length === 0) continue
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
      warnings.push(
        `${source} is not applied (${messageOf(error)}). Set in octavo.config what it changes${places === '' ? '' : ` of ${places}`}`,
      )
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

/** Secrets in files of Strapi's configuration. */
export interface StrapiSecrets {
  /** By variable. */
  readonly values: Environment
  /** The files, by variable. */
  readonly sources: Readonly<Record<string, string>>
  /** Sentences for the log. */
  readonly warnings: readonly string[]
}

/**
 * Reads secrets that `config/admin` and `config/plugins` set without the usual variables; Strapi's tokens are only valid with them. Never
 * throws: a file that cannot be run is a sentence for the log.
 */
export async function readStrapiSecrets(root: string, environment: Environment): Promise<StrapiSecrets> {
  const found = { values: {} as Record<string, string>, sources: {} as Record<string, string>, warnings: [] as string[] }
  for (const { file, from, variable } of secrets) {
    if (environment[variable] !== undefined) continue
    try {
      if (!wordsOfStrapi(root, file, environment).has(wordOf({ from }))) continue
      const read = (await readStrapiConfig(root, file, environment))!
      const value = valueAt(byName(file, read.config), from)
      if (typeof value !== 'string' || value === '') continue
      found.values[variable] = value
      found.sources[variable] = read.source
    } catch (error) {
      found.warnings.push(`${from} in config/${file} is not read (${messageOf(error)}). Tokens of Strapi need it: set ${variable}`)
    }
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

/** A value of a configuration for a message, with at most 40 characters. */
export const shown = (value: unknown): string =>
  typeof value === 'function' ? 'a function' : (JSON.stringify(value) ?? String(value)).slice(0, 40)

/** A number as it is, or as text: `env('PORT')` in place of `env.int`. */
export const asNumber = (value: unknown): unknown => (typeof value === 'string' && value.trim() !== '' ? Number(value) : value)

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
  return value === '' || (typeof value === 'string' && value.startsWith('/')) ? {} : { value }
}

function proxiesOf(value: unknown): Converted {
  const [koa, count, header] = ['koa', 'maxIpsCount', 'ipHeader'].map((name) => valueAt(value, name))
  if (value === true) return { problem: 'Strapi 5 reads proxy.koa' }
  if (koa === undefined || koa === false) return {}
  if (koa !== true) return { problem: `proxy.koa is ${shown(koa)}` }
  return { value: count === undefined ? 1 : asNumber(count), ...(header === undefined ? {} : { problem: 'ipHeader has no equivalent' }) }
}

function bodySizeOf(given: unknown): Converted {
  const value = quantityOf(given, sizes, 1)
  if (typeof value !== 'number' || value <= maxBodyBytes) return { value }
  return { value: maxBodyBytes, problem: `it is ${shown(given)}; a body has at most ${maxBodyBytes} bytes` }
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
function originsOf(given: unknown): Converted {
  const list = asList(given)
  if (!Array.isArray(list) || !list.every((one) => typeof one === 'string')) return { problem: `it is ${shown(given)}` }
  if (list.includes('*')) return { value: '*' }
  const problems = list.map(originProblem).filter((problem) => problem !== null)
  const value = list.filter((one) => originProblem(one) === null)
  return problems.length === 0 ? { value } : { value, problem: `only in part: ${problems.join('; ')}` }
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
  // Earlier versions had these options one level further out.
  const option = (path: string) => at(`s3Options.${path}`) ?? at(path)
  const own = {
    provider,
    bucket: option('params.Bucket'),
    region: option('region'),
    accessKeyId: option('credentials.accessKeyId') ?? option('accessKeyId'),
    secretAccessKey: option('credentials.secretAccessKey') ?? option('secretAccessKey'),
    sessionToken: option('credentials.sessionToken'),
    endpoint: option('endpoint'),
    forcePathStyle: option('forcePathStyle'),
    acl: option('params.ACL'),
    signedUrlExpires: option('params.signedUrlExpires'),
    baseUrl: at('baseUrl'),
    rootPath: at('rootPath'),
  }
  const value = Object.fromEntries(Object.entries(own).filter(([, one]) => one !== undefined && one !== null && one !== ''))
  const given = givenStorage().safeParse(value)
  const complete = given.success ? storageOf(given.data, environment) : given
  const why = complete.success
    ? ''
    : storageProblem(complete.error).replace('Invalid configuration (', '').replace('): ', ': ').replace(/\.$/, '')
  return complete.success ? { value } : { problem: `${why}; new files go to the uploads folder` }
}

function mailServerOf(email: unknown): Converted {
  const provider = providerOf(email)
  if (provider === undefined || provider === 'sendmail') return {}
  if (provider !== 'nodemailer') return { problem: `the provider is ${shown(provider)}; e-mails are sent by SMTP` }
  const [host, port, secure, user, password] = ['host', 'port', 'secure', 'auth.user', 'auth.pass'].map((name) =>
    valueAt(email, `providerOptions.${name}`),
  )
  if (typeof host !== 'string' || host === '') return { problem: 'providerOptions.host is missing' }
  const hasAccount = typeof user === 'string' && user !== ''
  if (hasAccount && typeof password !== 'string') return { problem: 'providerOptions.auth has no password' }
  const account = hasAccount ? `${encodeURIComponent(user)}:${encodeURIComponent(String(password))}@` : ''
  const isSecure = secure === true || (secure === undefined && Number(port) === 465)
  const url = `${isSecure ? 'smtps' : 'smtp'}://${account}${host}${port === undefined || port === '' ? '' : `:${String(port)}`}`
  return checkedBy(() => checkMailServer('providerOptions', url), url)
}

function senderOf(from: unknown): Converted {
  return typeof from === 'string' && from !== '' ? checkedBy(() => checkSender('it', from), from) : {}
}

/** @param check throws a ConfigError for an invalid value */
function checkedBy(check: () => void, value: string): Converted {
  try {
    check()
    return { value }
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
  const files = strapiFiles(root, 'database', environment)
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
