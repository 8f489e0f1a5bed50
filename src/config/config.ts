// Combines the environment, .env and octavo.config into one frozen Config.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import * as z from 'zod'
import { ConfigError } from '../errors/errors.js'
import type { Hook } from '../public/documents.js'
import type { EventListener } from '../public/events.js'
import type { TypeSettings } from '../public/type-settings.js'
import { auth } from './auth.js'
import { checkMailServer, checkRenamed, checkSecret, checkSender, checkSite, problemOf, warningsOf, withoutSlashes } from './checks.js'
import { corsSettings } from './cors.js'
import { clientOf, type DatabaseClient, type ServerSettings, serverOf } from './database-server.js'
import {
  dependsOnStrapi,
  type Environment,
  hasGeneratedSecrets,
  readDotEnv,
  readOctavoConfig,
  readStrapiConfig,
  readStrapiDatabase,
  type StrapiDatabase,
  setOnly,
} from './files.js'
import { eventSettings, hookSettings } from './hooks.js'
import { limits } from './limits.js'
import { givenStorage, type StorageConfig, storageOf, storageProblem } from './storage.js'
import { typeSettings } from './types.js'

/** The most reader threads; each takes some megabytes. */
const mostReaders = 64

const rest = z.strictObject({
  prefix: z
    .string()
    .regex(/^\/[\w/-]*[\w-]$/, 'must start with a slash and not end with one')
    .default('/api'),
  defaultLimit: z.int().positive().default(25),
  maxLimit: z.int().positive().default(100),
  withCount: z.boolean().default(true),
  strictParams: z.boolean().default(false),
  /** Reading drafts requires the action `findDraft` of the type. */
  draftGrant: z.boolean().default(false),
  contract: z.enum(['specification', 'strapi']).optional(),
})

/** The description of the API, for programs at `/openapi.json` below the prefix and for people at `/docs`. */
const docs = z.strictObject({ enabled: z.boolean().default(true) }).prefault({})

/** Attributes of these names are private in every type and component. */
const responses = z.strictObject({ privateAttributes: z.array(z.string()).default([]) })

/** The settings taken from Strapi's `config/api` unless octavo.config overrides them. */
const strapiApi = z.object({
  rest: z
    .object({
      prefix: rest.shape.prefix.unwrap(),
      defaultLimit: z.int().positive(),
      maxLimit: z.int().positive(),
      withCount: z.boolean(),
      strictParams: z.boolean(),
    })
    .partial()
    .prefault({}),
  responses: z.object({ privateAttributes: z.array(z.string()).default([]) }).prefault({}),
})

const file = z.strictObject({
  host: z.string().optional(),
  port: z.int().min(0).max(65_535).optional(),
  /** The public URL of the service, used in e-mails and redirects. */
  url: z.url({ protocol: /^https?$/ }).optional(),
  /** Number of trusted reverse proxies in front of the service (X-Forwarded-For). */
  trustProxy: z.int().min(0).max(10).default(0),
  api: z.strictObject({ rest: rest.prefault({}), responses: responses.prefault({}) }).prefault({}),
  auth: auth.prefault({}),
  docs,
  mail: z.strictObject({ url: z.string().optional(), from: z.string().optional() }).prefault({}),
  database: z
    .strictObject({
      filename: z.string().optional(),
      /** Number of permanent reader threads, and the maximum while heavy reads occupy some. */
      readerThreads: z.int().min(1).max(mostReaders).optional(),
      maxReaderThreads: z.int().min(1).max(mostReaders).optional(),
      /** Create Octavo's own indexes (`octavo_*`) in addition to Strapi's. */
      indexes: z.boolean().optional(),
      busyTimeout: z.int().positive().default(5_000),
      mmapBytes: z.int().min(0).default(0),
      cacheKibibytes: z.int().positive().default(2_048),
    })
    .prefault({}),
  uploads: z
    .strictObject({
      folder: z.string().optional(),
      /** Where new files are stored. */
      storage: givenStorage.prefault({ provider: 'local' }),
      /** Media types that may be uploaded (`image/*`, `application/pdf`); if empty, all but the denied ones. */
      allowedTypes: z.array(z.string()).default([]),
      deniedTypes: z.array(z.string()).default([]),
    })
    .prefault({}),
  cors: corsSettings.prefault({}),
  hooks: z.array(hookSettings).readonly().default([]),
  types: typeSettings.default({}),
  events: eventSettings.prefault({}),
  log: z.strictObject({ level: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).optional() }).prefault({}),
  limits: limits.prefault({}),
})

/** The contents of octavo.config.{ts,js,json}; everything is optional. */
export type UserConfig = z.input<typeof file>

/** The secrets of a project. */
export interface Secrets {
  readonly apiTokenSalt: string
  readonly jwtSecret: string
}

/** The complete configuration of a project. */
export interface Config {
  readonly folder: string
  readonly host: string
  readonly port: number
  /** Production hides timings and is the default for an unknown NODE_ENV. */
  readonly production: boolean
  /** Write e-mails that cannot be sent to the log, including their codes: only if NODE_ENV is `development`. */
  readonly logsEmails: boolean
  readonly contract: 'specification' | 'strapi'
  /** Why this contract was chosen; printed at the start. */
  readonly contractReason: string
  readonly rest: Readonly<Required<Omit<z.output<typeof rest>, 'contract'>>>
  /** Attributes of these names are private in every type and component. */
  readonly privateAttributes: readonly string[]
  readonly database: {
    readonly client: DatabaseClient
    /** Whether lists are sorted with null as the smallest value, as the contract says, wherever a database has it by itself. */
    readonly nullsFirst: boolean
    /** Null: the database is a SQLite file. */
    readonly server: ServerSettings | null
    readonly filename: string
    readonly readerThreads: number
    readonly maxReaderThreads: number
    readonly indexes: boolean
    readonly busyTimeout: number
    readonly mmapBytes: number
    readonly cacheKibibytes: number
  }
  readonly uploadsFolder: string
  readonly storage: StorageConfig
  /** Media types that may be uploaded; if `allowed` is empty, all but the denied ones. */
  readonly uploadTypes: { readonly allowed: readonly string[]; readonly denied: readonly string[] }
  /** The public URL of the service, without a trailing slash. */
  readonly publicUrl: string
  readonly trustProxy: number
  readonly auth: Readonly<z.output<typeof auth>>
  /** Whether the API describes itself, with what a caller may do. */
  readonly docs: Readonly<z.output<typeof docs>>
  readonly mail: { readonly url: string | null; readonly from: string | null }
  readonly corsOrigins: '*' | readonly string[]
  readonly corsHeaders: readonly string[]
  readonly logLevel: string
  readonly hooks: readonly Hook[]
  /** By uid, what the project decides for a content-type. */
  readonly types: Readonly<Record<string, TypeSettings>>
  readonly events: { readonly outbox: boolean; readonly listeners: readonly EventListener[] }
  readonly limits: Readonly<z.output<typeof limits> & { readonly drainDelay: number }>
  /** The default locale of a new database. */
  readonly initialLocale: string
  readonly secrets: Secrets
  /** Secrets that are neither in the environment nor in .env: generated, and still to be saved. */
  readonly missingSecrets: Readonly<Record<string, string>>
  /** Evidence that the project was started before, as the end of a sentence; null if there is none. */
  readonly startedBefore: string | null
  /** True if an empty database may be created although the project had one. */
  readonly allowsNewDatabase: boolean
  /** Likely mistakes, as sentences for the log. */
  readonly warnings: readonly string[]
}

/** Types octavo.config.ts: `export default defineConfig({ … })`. */
export const defineConfig = (config: UserConfig): UserConfig => config

const randomSecret = (): string => randomBytes(24).toString('base64url')

/**
 * Reads the configuration of the project in `folder`: its octavo.config, its .env, and the environment, which takes precedence.
 * @throws ConfigError with a sentence that names the invalid value.
 */
export async function loadConfig(
  folder: string,
  variables: Environment = process.env,
  makeSecret: () => string = randomSecret,
): Promise<Config> {
  const root = resolve(folder)
  if (!existsSync(root)) throw new ConfigError(`The folder ${root} does not exist.`)
  const own = readDotEnv(root)
  const environment = { ...own, ...setOnly(variables) }
  checkRenamed(environment)
  const { config, source } = await readOctavoConfig(root)
  const strapi = await readStrapiConfig(root, 'api', environment)
  const ownConfig = checked(file, config, source)
  const given =
    strapi === null
      ? ownConfig
      : checked(file, withStrapiApi(config as UserConfig, checked(strapiApi, strapi.config, strapi.source)), source)
  checkTogether(config as UserConfig, source)
  const isNamed = environment.DATABASE_FILENAME !== undefined || given.database.filename !== undefined
  const database = isNamed ? null : await readStrapiDatabase(root, environment)
  return assemble({ root, given, environment, own, database, makeSecret })
}

/** Adds the settings of Strapi's `config/api` that octavo.config does not override. */
function withStrapiApi(config: UserConfig, { rest, responses }: z.output<typeof strapiApi>): UserConfig {
  const own = config.api ?? {}
  return { ...config, api: { rest: { ...rest, ...own.rest }, responses: { ...responses, ...own.responses } } }
}

/** @throws ConfigError for two values that contradict each other, if both are set explicitly */
function checkTogether({ api, database }: UserConfig, source: string): void {
  const { defaultLimit, maxLimit = 100 } = api?.rest ?? {}
  if (defaultLimit !== undefined && defaultLimit > maxLimit)
    throw new ConfigError(
      `Invalid configuration (${source}): api.rest.defaultLimit is ${defaultLimit}, above api.rest.maxLimit (${maxLimit}).`,
    )
  const { readerThreads, maxReaderThreads } = database ?? {}
  if (readerThreads !== undefined && maxReaderThreads !== undefined && readerThreads > maxReaderThreads)
    throw new ConfigError(
      `Invalid configuration (${source}): database.readerThreads is ${readerThreads}, above database.maxReaderThreads (${maxReaderThreads}).`,
    )
}

function checked<Schema extends z.ZodType>(schema: Schema, value: unknown, source: string): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new ConfigError(`Invalid configuration (${[source, ...pathOf(issue!)].join(', ')}): ${problemOf(issue!, schema)}`)
}

/** The path of an invalid value as text, such as `hooks[0].before`; empty for the file itself. */
function pathOf({ path }: z.core.$ZodIssue): readonly string[] {
  if (path.length === 0) return []
  return [path.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${String(key)}`)).join('')]
}

interface Parts {
  readonly root: string
  readonly given: z.output<typeof file>
  readonly environment: Environment
  /** The variables in .env. */
  readonly own: Environment
  /** Strapi's config/database, if nothing else names the database file. */
  readonly database: StrapiDatabase | null
  makeSecret(): string
}

function assemble({ root, given, environment, own, database, makeSecret }: Parts): Config {
  const client = clientOf(environment, database)
  const { secrets, missingSecrets } = secretsOf(environment, makeSecret)
  const givenSecrets = Object.fromEntries(Object.entries(environment).filter(([name]) => secretNames.includes(name))) as Record<
    string,
    string
  >
  const databaseProblem = database?.problem ?? null
  const storage = storageOf(given.uploads.storage, environment)
  if (!storage.success) throw new ConfigError(storageProblem(storage.error))
  const { contract, ...restOptions } = given.api.rest
  const chosen = contract ?? (dependsOnStrapi(root) ? 'strapi' : 'specification')
  const contractReason =
    contract !== undefined ? 'set in octavo.config' : chosen === 'strapi' ? 'package.json depends on @strapi/strapi' : 'the default'
  const readerThreads =
    integer(environment, 'OCTAVO_DATABASE_READER_THREADS', 1, mostReaders) ??
    given.database.readerThreads ??
    Math.min(4, Math.max(2, availableParallelism()))
  const port = integer(environment, 'PORT', 0, 65_535) ?? given.port ?? 1337
  const host = environment.HOST ?? given.host ?? '0.0.0.0'
  const production = environment.NODE_ENV !== 'development' && environment.NODE_ENV !== undefined
  return Object.freeze({
    folder: root,
    host,
    port,
    publicUrl: publicUrl(environment, given.url ?? `http://localhost:${port}`),
    trustProxy: integer(environment, 'OCTAVO_TRUST_PROXY') ?? given.trustProxy,
    auth: given.auth,
    docs: given.docs,
    mail: mailOf(environment, given.mail),
    production,
    logsEmails: environment.NODE_ENV === 'development',
    contract: chosen,
    contractReason,
    rest: restOptions,
    privateAttributes: given.api.responses.privateAttributes,
    database: {
      ...given.database,
      client,
      nullsFirst: chosen === 'specification',
      server: serverOf(client, environment, database),
      filename: resolve(root, environment.DATABASE_FILENAME ?? given.database.filename ?? database?.filename ?? '.tmp/data.db'),
      readerThreads,
      maxReaderThreads: Math.max(
        readerThreads,
        integer(environment, 'OCTAVO_DATABASE_MAX_READER_THREADS', 1, mostReaders) ?? given.database.maxReaderThreads ?? 2 * readerThreads,
      ),
      indexes: boolean(environment, 'OCTAVO_DATABASE_INDEXES') ?? given.database.indexes ?? false,
    },
    uploadsFolder: resolve(root, environment.UPLOADS_DIR ?? given.uploads.folder ?? 'public/uploads'),
    storage: storage.data,
    uploadTypes: { allowed: given.uploads.allowedTypes, denied: given.uploads.deniedTypes },
    corsOrigins: given.cors.origins,
    corsHeaders: given.cors.headers,
    logLevel: logLevel(environment.LOG_LEVEL ?? given.log.level ?? 'info'),
    hooks: given.hooks,
    types: given.types as Config['types'],
    events: given.events,
    limits: { ...given.limits, drainDelay: given.limits.drainDelay ?? (production && !isLoopback(host) ? 5_000 : 0) },
    initialLocale: environment.STRAPI_PLUGIN_I18N_INIT_LOCALE_CODE || 'en',
    secrets,
    missingSecrets,
    startedBefore: hasGeneratedSecrets(root) ? '.env has secrets from an earlier start' : null,
    allowsNewDatabase: false,
    warnings: [
      ...(databaseProblem === null ? [] : [`${databaseProblem}; using .tmp/data.db. Set DATABASE_FILENAME to use another file`]),
      ...warningsOf(root, environment, own, givenSecrets),
    ],
  })
}

/** True if a service that listens on this host is only reachable from the same machine. */
const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(\.\d+){3}$/.test(host)

const secretNames = ['API_TOKEN_SALT', 'JWT_SECRET']

/** Returns the secrets, and generates those that are not set. */
function secretsOf(environment: Environment, makeSecret: () => string): Pick<Config, 'secrets' | 'missingSecrets'> {
  const missingSecrets: Record<string, string> = {}
  const [apiTokenSalt, jwtSecret] = secretNames.map((name) => {
    const value = environment[name]
    if (value !== undefined) checkSecret(name, value)
    else missingSecrets[name] = makeSecret()
    return value ?? missingSecrets[name]!
  }) as [string, string]
  return { secrets: { apiTokenSalt, jwtSecret }, missingSecrets }
}

function publicUrl({ PUBLIC_URL }: Environment, fallback: string): string {
  if (PUBLIC_URL !== undefined) checkSite('PUBLIC_URL', PUBLIC_URL)
  return withoutSlashes(PUBLIC_URL ?? fallback)
}

function mailOf({ SMTP_URL, MAIL_FROM }: Environment, given: z.output<typeof file>['mail']): Config['mail'] {
  const [url, from] = [SMTP_URL ?? given.url ?? null, MAIL_FROM ?? given.from ?? null]
  if (url !== null) checkMailServer(SMTP_URL === undefined ? 'mail.url' : 'SMTP_URL', url)
  if (from !== null) checkSender(MAIL_FROM === undefined ? 'mail.from' : 'MAIL_FROM', from)
  return { url, from }
}

function integer(environment: Environment, name: string, least = 0, most = Number.MAX_SAFE_INTEGER): number | undefined {
  const value = environment[name]
  if (value === undefined || value === '') return undefined
  if (!/^\d+$/.test(value)) throw new ConfigError(`${name} is "${value}"; it must be a whole number.`)
  if (Number(value) < least || Number(value) > most) throw new ConfigError(`${name} is ${value}; it must be from ${least} to ${most}.`)
  return Number(value)
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

function logLevel(level: string): string {
  if (!logLevels.includes(level)) throw new ConfigError(`LOG_LEVEL is "${level}"; it must be one of ${logLevels.join(', ')}.`)
  return level
}

function boolean(environment: Environment, name: string): boolean | undefined {
  const value = environment[name]
  if (value === undefined || value === '') return undefined
  if (value !== 'true' && value !== 'false') throw new ConfigError(`${name} is "${value}"; it must be true or false.`)
  return value === 'true'
}
