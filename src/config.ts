// Environment, .env and octavo.config become one frozen Config. Every limit has a name and a default here.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import { dependsOnStrapi, type Environment, readDotEnv, readOctavoConfig, readStrapiConfig } from './config-files.js'
import { eventSettings, hookSettings } from './config-hooks.js'
import { ConfigError } from './errors.js'
import type { EventListener } from './events.js'
import type { Hook } from './interface.js'
import { givenStorage, type StorageConfig, storageOf, storageProblem } from './storage-config.js'

/** Named limits: what comes from outside never grows beyond them. Milliseconds, bytes and counts. */
const limits = z.strictObject({
  /** Relations and components that one path of a filter may cross: what a database has to look at grows with each. */
  filterRelations: z.int().positive().default(8),
  /** Conditions, sort keys and populated attributes of one request, together. */
  planNodes: z.int().positive().default(1000),
  /** Bytes of a request's line and headers, the path and query included. */
  headerBytes: z.int().positive().default(16_384),
  /** Bytes of a request body. */
  bodyBytes: z.int().positive().default(1_048_576),
  /** Bytes of one answer. */
  answerBytes: z.int().positive().default(100_000_000),
  /** Bytes of one answer whose texts say where they come from. */
  markedBytes: z.int().positive().default(30_000_000),
  /** Bytes of all large answers that clients have not taken yet. */
  unsentBytes: z.int().positive().default(500_000_000),
  /** Milliseconds that one read may take, waiting included. */
  readTimeout: z.int().positive().default(10_000),
  /** Reads that may wait for a reader thread. */
  readQueue: z.int().positive().default(5_000),
  /** Milliseconds that one write may take, waiting included, and writes that may wait. */
  writeTimeout: z.int().positive().default(15_000),
  writeQueue: z.int().positive().default(1_000),
  /** Compiled plans, their characters together, and query strings already read, that are kept in memory. */
  cachedPlans: z.int().positive().default(1_000),
  cachedPlanCharacters: z.int().positive().default(8_000_000),
  cachedQueries: z.int().positive().default(2_000),
  /** Identified tokens and users that are kept in memory. */
  cachedCallers: z.int().positive().default(5_000),
  /** Milliseconds for the headers of a request, for a whole request, and between two of one connection. */
  headersTimeout: z.int().positive().default(10_000),
  requestTimeout: z.int().positive().default(30_000),
  keepAliveTimeout: z.int().positive().default(65_000),
  /** Milliseconds that a connection may be silent, a slow reader's too. */
  idleTimeout: z.int().positive().default(70_000),
  /** Milliseconds that a form with files may take to come in. */
  uploadTimeout: z.int().positive().default(3_600_000),
  /** Bytes of an uploaded file, and of a whole form with files. */
  fileBytes: z.int().positive().default(200_000_000),
  uploadBytes: z.int().positive().default(2_000_000_000),
  /** Files and other fields of a form, and bytes of such a field. */
  uploadFiles: z.int().positive().default(100),
  uploadFields: z.int().positive().default(200),
  uploadFieldBytes: z.int().positive().default(100_000),
  /** Forms with files of which a piece is read at the same moment. */
  uploadTurns: z.int().positive().default(8),
  /** Pixels of a picture, all its frames together; larger ones get no formats. */
  imagePixels: z.int().positive().default(100_000_000),
  /** Pictures that are worked on at once, that may wait, and milliseconds for each. */
  imagesAtOnce: z.int().positive().default(2),
  imageQueue: z.int().positive().default(500),
  imageTimeout: z.int().positive().default(60_000),
  /** Milliseconds that one act at a storage on another machine may take, and may be without any progress. */
  storageTimeout: z.int().positive().default(60_000),
  storageSilence: z.int().positive().default(10_000),
  /** Open connections. */
  connections: z.int().positive().default(10_000),
  /** Attempts a minute at each route of /auth, by address; 0: any number. Attempts that succeed to sign in do not count. */
  authRequests: z.int().min(0).default(10),
  /** Addresses and accounts whose attempts are counted. */
  countedCallers: z.int().positive().default(100_000),
  /** Milliseconds that one hook, or one listener for one event, may take. */
  hookTimeout: z.int().positive().default(5_000),
  /** Operations that hooks may start inside of each other. */
  hookDepth: z.int().positive().default(5),
  /** Events that are kept in the outbox; the oldest go first. */
  outboxEvents: z.int().positive().default(10_000),
  /** Bytes of one event; an entry that is larger comes without what it is related to. */
  eventBytes: z.int().positive().default(262_144),
  /** Milliseconds that requests in flight get to end when the service stops. */
  drainTimeout: z.int().positive().default(25_000),
})

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

const day = 86_400_000

/** Another service that signs users in: one that is known by its name, or any with OpenID Connect by its `issuer`. */
const provider = z.strictObject({
  enabled: z.boolean().default(true),
  key: z.string(),
  secret: z.string().default(''),
  issuer: z.url({ protocol: /^https?$/ }).optional(),
  scope: z.array(z.string()).optional(),
  /** The page of the site that users come back to. */
  callback: z.url({ protocol: /^https?$/ }).optional(),
})

/** How users sign in. Lifespans in milliseconds. */
const auth = z.strictObject({
  /** One JWT that lives long, or a short one beside a refresh token. */
  jwtManagement: z.enum(['legacy-support', 'refresh']).default('legacy-support'),
  jwtLifespan: z
    .int()
    .positive()
    .default(30 * day),
  accessTokenLifespan: z.int().positive().default(600_000),
  maxRefreshTokenLifespan: z
    .int()
    .positive()
    .default(30 * day),
  idleRefreshTokenLifespan: z
    .int()
    .positive()
    .default(14 * day),
  /** Attributes of users that may be given when signing up, beside name, address and password. */
  register: z.strictObject({ allowedFields: z.array(z.string()).default([]) }).prefault({}),
  /** How long the codes in letters hold. */
  resetLifespan: z.int().positive().default(3_600_000),
  confirmLifespan: z.int().positive().default(day),
  providers: z.record(z.string().regex(/^[\w-]+$/), provider).default({}),
  /** Count attempts in the database, because several processes serve it; each one that counts is a small write. */
  sharedLimits: z.boolean().default(false),
  /** Pages that users may come back to from other services, beside each provider's own; compared exactly. */
  callbacks: z.array(z.url({ protocol: /^https?$/ })).default([]),
  cookie: z
    .strictObject({
      name: z
        .string()
        .regex(/^[\w-]+$/)
        .default('strapi_up_refresh'),
      sameSite: z.enum(['lax', 'strict']).default('lax'),
      domain: z.string().optional(),
      /** Set the refresh token as a cookie also for callers that do not ask for it. */
      always: z.boolean().default(false),
    })
    .prefault({}),
})

const file = z.strictObject({
  host: z.string().optional(),
  port: z.int().min(0).max(65_535).optional(),
  /** The address under which everyone reaches the service: letters and redirects lead there. */
  url: z.url({ protocol: /^https?$/ }).optional(),
  /** Reverse proxies in front of the service, whose X-Forwarded-For is believed. */
  proxies: z.int().min(0).max(10).default(0),
  api: z.strictObject({ rest: rest.prefault({}), responses: responses.prefault({}) }).prefault({}),
  auth: auth.prefault({}),
  mail: z.strictObject({ url: z.string().optional(), from: z.string().optional() }).prefault({}),
  database: z
    .strictObject({
      filename: z.string().optional(),
      /** Reader threads that are always there, and the most there may be while heavy reads occupy some. */
      readers: z.int().min(1).max(64).optional(),
      maxReaders: z.int().min(1).max(64).optional(),
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
  cors: z.strictObject({ origins: z.union([z.literal('*'), z.array(z.string())]).default('*') }).prefault({}),
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
  readonly contract: 'specification' | 'strapi'
  /** Why this contract: for the line that the start prints. */
  readonly contractReason: string
  readonly rest: Readonly<Required<Omit<z.output<typeof rest>, 'contract'>>>
  /** Attributes of these names are private in every type and component. */
  readonly privateAttributes: readonly string[]
  readonly database: {
    readonly filename: string
    readonly readers: number
    readonly maxReaders: number
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
  readonly proxies: number
  readonly auth: Readonly<z.output<typeof auth>>
  readonly mail: { readonly url: string | null; readonly from: string | null }
  readonly corsOrigins: '*' | readonly string[]
  readonly logLevel: string
  readonly hooks: readonly Hook[]
  readonly events: { readonly outbox: boolean; readonly listeners: readonly EventListener[] }
  readonly limits: Readonly<z.output<typeof limits>>
  /** The default locale that a new database gets. */
  readonly initialLocale: string
  readonly secrets: Secrets
  /** Secrets that neither the environment nor .env has: made for this project, to be written down. */
  readonly missingSecrets: Readonly<Record<string, string>>
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
  const environment = { ...readDotEnv(join(root, '.env')), ...variables }
  const { config, source } = await readOctavoConfig(root)
  const strapi = await readStrapiConfig(root, environment)
  const given = checked(file, config, source)
  if (strapi === null) return assemble(root, given, environment, makeSecret)
  const { rest, responses } = checked(strapiApi, strapi.config, strapi.source)
  const said = (config as UserConfig).api ?? {}
  const api = { rest: { ...rest, ...said.rest }, responses: { ...responses, ...said.responses } }
  return assemble(root, checked(file, { ...(config as UserConfig), api }, source), environment, makeSecret)
}

function checked<Schema extends z.ZodType>(schema: Schema, value: unknown, source: string): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new ConfigError(`${source} is not right: ${issue!.path.join('.') || 'the file'}: ${issue!.message}.`)
}

function assemble(root: string, given: z.output<typeof file>, environment: Environment, makeSecret: () => string): Config {
  const client = environment.DATABASE_CLIENT ?? 'sqlite'
  if (client !== 'sqlite' && client !== 'better-sqlite3') {
    throw new ConfigError(`DATABASE_CLIENT is "${client}"; this version of Octavo serves SQLite databases.`)
  }
  const missing: Record<string, string> = {}
  const secret = (name: string): string => {
    const value = environment[name]
    if (value !== undefined && value !== '') return value
    missing[name] = makeSecret()
    return missing[name]
  }
  const storage = storageOf(given.uploads.storage, environment)
  if (!storage.success) throw new ConfigError(storageProblem(storage.error))
  const { contract, ...restOptions } = given.api.rest
  const chosen = contract ?? (dependsOnStrapi(root) ? 'strapi' : 'specification')
  const contractReason =
    contract !== undefined ? 'octavo.config says so' : chosen === 'strapi' ? 'package.json depends on @strapi/strapi' : 'the default'
  const readers =
    integer(environment, 'OCTAVO_DATABASE_READERS', 1, 256) ?? given.database.readers ?? Math.min(4, Math.max(2, availableParallelism()))
  const port = integer(environment, 'PORT', 0, 65_535) ?? given.port ?? 1337
  return Object.freeze({
    folder: root,
    host: environment.HOST ?? given.host ?? '0.0.0.0',
    port,
    publicUrl: (environment.PUBLIC_URL ?? given.url ?? `http://localhost:${port}`).replace(/\/+$/, ''),
    proxies: integer(environment, 'OCTAVO_PROXIES') ?? given.proxies,
    auth: given.auth,
    mail: { url: environment.SMTP_URL ?? given.mail.url ?? null, from: environment.MAIL_FROM ?? given.mail.from ?? null },
    production: environment.NODE_ENV !== 'development' && environment.NODE_ENV !== undefined,
    contract: chosen,
    contractReason,
    rest: restOptions,
    privateAttributes: given.api.responses.privateAttributes,
    database: {
      ...given.database,
      filename: resolve(root, environment.DATABASE_FILENAME ?? given.database.filename ?? '.tmp/data.db'),
      readers,
      maxReaders: Math.max(
        readers,
        integer(environment, 'OCTAVO_DATABASE_MAX_READERS', 1, 256) ?? given.database.maxReaders ?? Math.max(8, readers),
      ),
      indexes: boolean(environment, 'OCTAVO_DATABASE_INDEXES') ?? given.database.indexes ?? false,
    },
    uploadsFolder: resolve(root, environment.UPLOADS_DIR ?? given.uploads.folder ?? 'public/uploads'),
    storage: storage.data,
    uploadTypes: { allowed: given.uploads.allowedTypes, denied: given.uploads.deniedTypes },
    corsOrigins: given.cors.origins,
    logLevel: logLevel(environment.LOG_LEVEL ?? given.log.level ?? 'info'),
    hooks: given.hooks,
    events: given.events,
    limits: given.limits,
    initialLocale: environment.STRAPI_PLUGIN_I18N_INIT_LOCALE_CODE || 'en',
    secrets: { apiTokenSalt: secret('API_TOKEN_SALT'), jwtSecret: secret('JWT_SECRET') },
    missingSecrets: missing,
  })
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
