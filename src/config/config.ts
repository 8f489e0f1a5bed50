// Environment, .env and octavo.config become one frozen Config.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import * as z from 'zod'
import { ConfigError } from '../errors/errors.js'
import type { Hook } from '../public/documents.js'
import type { EventListener } from '../public/events.js'
import { auth } from './auth.js'
import { checkMailServer, checkRenamed, checkSecret, checkSender, checkSite, problemOf, warningsOf, withoutSlashes } from './checks.js'
import { corsSettings } from './cors.js'
import {
  dependsOnStrapi,
  type Environment,
  hasMadeSecrets,
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

/** Reader threads, each some megabytes. */
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
  /** Reading drafts needs the action `findDraft` of the type. */
  draftGrant: z.boolean().default(false),
  contract: z.enum(['specification', 'strapi']).optional(),
})

/** Attributes of these names are private in every type and component. */
const responses = z.strictObject({ privateAttributes: z.array(z.string()).default([]) })

/** What counts of Strapi's `config/api`, where octavo.config says nothing else. */
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
  /** The address under which everyone reaches the service: letters and redirects lead there. */
  url: z.url({ protocol: /^https?$/ }).optional(),
  /** Reverse proxies in front of the service, whose X-Forwarded-For is believed. */
  trustProxy: z.int().min(0).max(10).default(0),
  api: z.strictObject({ rest: rest.prefault({}), responses: responses.prefault({}) }).prefault({}),
  auth: auth.prefault({}),
  mail: z.strictObject({ url: z.string().optional(), from: z.string().optional() }).prefault({}),
  database: z
    .strictObject({
      filename: z.string().optional(),
      /** Reader threads that are always there, and the most there may be while heavy reads occupy some. */
      readerThreads: z.int().min(1).max(mostReaders).optional(),
      maxReaderThreads: z.int().min(1).max(mostReaders).optional(),
      /** Let Octavo make indexes of its own (`octavo_*`) beside Strapi's. */
      indexes: z.boolean().optional(),
      busyTimeout: z.int().positive().default(5_000),
      mmapBytes: z.int().min(0).default(0),
      cacheKibibytes: z.int().positive().default(2_048),
    })
    .prefault({}),
  uploads: z
    .strictObject({
      folder: z.string().optional(),
      /** Where new files are kept. */
      storage: givenStorage.prefault({ provider: 'local' }),
      /** Types that may be stored (`image/*`, `application/pdf`); none named: all but the denied ones. */
      allowedTypes: z.array(z.string()).default([]),
      deniedTypes: z.array(z.string()).default([]),
    })
    .prefault({}),
  cors: corsSettings.prefault({}),
  hooks: z.array(hookSettings).readonly().default([]),
  events: eventSettings.prefault({}),
  log: z.strictObject({ level: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).optional() }).prefault({}),
  limits: limits.prefault({}),
})

/** What a project may write into octavo.config.{ts,js,json}; everything is optional. */
export type UserConfig = z.input<typeof file>

export interface Secrets {
  readonly apiTokenSalt: string
  readonly jwtSecret: string
}

export interface Config {
  readonly folder: string
  readonly host: string
  readonly port: number
  /** Production hides timings and is the default for an unknown NODE_ENV. */
  readonly production: boolean
  /** Letters that cannot be sent are written to the log, codes and all: only where NODE_ENV says `development`. */
  readonly showsLetters: boolean
  readonly contract: 'specification' | 'strapi'
  /** Why this contract: for the line that the start prints. */
  readonly contractReason: string
  readonly rest: Readonly<Required<Omit<z.output<typeof rest>, 'contract'>>>
  /** Attributes of these names are private in every type and component. */
  readonly privateAttributes: readonly string[]
  readonly database: {
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
  /** Types of files that may be stored; `allowed` empty: all but the denied ones. */
  readonly uploadTypes: { readonly allowed: readonly string[]; readonly denied: readonly string[] }
  /** The service's own address, without a slash at its end. */
  readonly publicUrl: string
  readonly trustProxy: number
  readonly auth: Readonly<z.output<typeof auth>>
  readonly mail: { readonly url: string | null; readonly from: string | null }
  readonly corsOrigins: '*' | readonly string[]
  readonly corsHeaders: readonly string[]
  readonly logLevel: string
  readonly hooks: readonly Hook[]
  readonly events: { readonly outbox: boolean; readonly listeners: readonly EventListener[] }
  readonly limits: Readonly<z.output<typeof limits> & { readonly drainDelay: number }>
  /** The default locale that a new database gets. */
  readonly initialLocale: string
  readonly secrets: Secrets
  /** Secrets that neither the environment nor .env has: made for this project, to be written down. */
  readonly missingSecrets: Readonly<Record<string, string>>
  /** What shows that the project was started before, in words that end a sentence; null where nothing does. */
  readonly startedBefore: string | null
  /** Whether an empty database may be made though the project had one. */
  readonly mayBegin: boolean
  /** What may be a mistake, as sentences for the log. */
  readonly warnings: readonly string[]
}

/** Types octavo.config.ts: `export default defineConfig({ … })`. */
export const defineConfig = (config: UserConfig): UserConfig => config

const randomSecret = (): string => randomBytes(24).toString('base64url')

/**
 * Reads the configuration of the project in `folder`: its octavo.config and .env, and the environment, which wins.
 * @throws ConfigError with a sentence that names the value that is wrong.
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
  const said = checked(file, config, source)
  const given =
    strapi === null ? said : checked(file, withStrapis(config as UserConfig, checked(strapiApi, strapi.config, strapi.source)), source)
  checkTogether(config as UserConfig, source)
  const isNamed = environment.DATABASE_FILENAME !== undefined || given.database.filename !== undefined
  const database = isNamed ? null : await readStrapiDatabase(root, environment)
  return assemble({ root, given, environment, own, database, makeSecret })
}

/** What octavo.config says over what Strapi's `config/api` does. */
function withStrapis(config: UserConfig, { rest, responses }: z.output<typeof strapiApi>): UserConfig {
  const said = config.api ?? {}
  return { ...config, api: { rest: { ...rest, ...said.rest }, responses: { ...responses, ...said.responses } } }
}

/** @throws ConfigError for two values of which one makes the other meaningless; both must have been said */
function checkTogether({ api, database }: UserConfig, source: string): void {
  const { defaultLimit, maxLimit = 100 } = api?.rest ?? {}
  if (defaultLimit !== undefined && defaultLimit > maxLimit)
    throw new ConfigError(`${source} is not right: api.rest.defaultLimit is ${defaultLimit}, above api.rest.maxLimit (${maxLimit}).`)
  const { readerThreads, maxReaderThreads } = database ?? {}
  if (readerThreads !== undefined && maxReaderThreads !== undefined && readerThreads > maxReaderThreads)
    throw new ConfigError(
      `${source} is not right: database.readerThreads is ${readerThreads}, above database.maxReaderThreads (${maxReaderThreads}).`,
    )
}

function checked<Schema extends z.ZodType>(schema: Schema, value: unknown, source: string): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new ConfigError(`${source} is not right: ${issue!.path.join('.') || 'the file'}: ${problemOf(issue!, schema)}`)
}

interface Parts {
  readonly root: string
  readonly given: z.output<typeof file>
  readonly environment: Environment
  /** What .env sets. */
  readonly own: Environment
  /** What Strapi's config/database says, where nothing else names the file. */
  readonly database: StrapiDatabase | null
  makeSecret(): string
}

function assemble({ root, given, environment, own, database, makeSecret }: Parts): Config {
  checkClient(environment, database)
  const { secrets, missingSecrets } = secretsOf(environment, makeSecret)
  const said = Object.fromEntries(Object.entries(environment).filter(([name]) => secretNames.includes(name))) as Record<string, string>
  const strapis = database?.problem ?? null
  const storage = storageOf(given.uploads.storage, environment)
  if (!storage.success) throw new ConfigError(storageProblem(storage.error))
  const { contract, ...restOptions } = given.api.rest
  const chosen = contract ?? (dependsOnStrapi(root) ? 'strapi' : 'specification')
  const contractReason =
    contract !== undefined ? 'octavo.config says so' : chosen === 'strapi' ? 'package.json depends on @strapi/strapi' : 'the default'
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
    mail: mailOf(environment, given.mail),
    production,
    showsLetters: environment.NODE_ENV === 'development',
    contract: chosen,
    contractReason,
    rest: restOptions,
    privateAttributes: given.api.responses.privateAttributes,
    database: {
      ...given.database,
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
    events: given.events,
    limits: { ...given.limits, drainDelay: given.limits.drainDelay ?? (production && !isLoopback(host) ? 5_000 : 0) },
    initialLocale: environment.STRAPI_PLUGIN_I18N_INIT_LOCALE_CODE || 'en',
    secrets,
    missingSecrets,
    startedBefore: hasMadeSecrets(root) ? '.env has the secrets of a project that was started before' : null,
    mayBegin: false,
    warnings: [
      ...(strapis === null ? [] : [`${strapis}: .tmp/data.db is used, name another one with DATABASE_FILENAME`]),
      ...warningsOf(root, environment, own, said),
    ],
  })
}

/** Whether only this machine reaches a service that listens there. */
const isLoopback = (host: string): boolean => host === 'localhost' || host === '::1' || /^127(\.\d+){3}$/.test(host)

function checkClient({ DATABASE_CLIENT }: Environment, database: StrapiDatabase | null): void {
  const [name, client] =
    DATABASE_CLIENT === undefined ? ["The client of Strapi's config/database", database?.client] : ['DATABASE_CLIENT', DATABASE_CLIENT]
  if (client !== undefined && client !== null && client !== 'sqlite' && client !== 'better-sqlite3')
    throw new ConfigError(`${name} is "${client}"; this version of Octavo serves SQLite databases.`)
}

const secretNames = ['API_TOKEN_SALT', 'JWT_SECRET']

/** The secrets that are set, and new ones in the places of those that are not. */
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

function publicUrl({ PUBLIC_URL }: Environment, otherwise: string): string {
  if (PUBLIC_URL !== undefined) checkSite('PUBLIC_URL', PUBLIC_URL)
  return withoutSlashes(PUBLIC_URL ?? otherwise)
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
