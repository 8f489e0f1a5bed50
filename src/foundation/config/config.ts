// Combines the environment, .env and octavo.config into one frozen Config.
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import * as z from 'zod'
import { ConfigError } from '../errors/errors.js'
import { type ScalarType, scalarTypes } from '../public/attribute-types.js'
import type { EventListener } from '../public/events.js'
import type { Hook } from '../public/hooks.js'
import type { CustomRoute } from '../public/routes.js'
import type { Schedule } from '../public/schedules.js'
import type { TypeSettings } from '../public/type-settings.js'
import { type ApiConfig, apiOf, apiSettings, readStrapiApi, strapiApi } from './api.js'
import { adminSettings, authSettings } from './auth.js'
import { checkMailServer, checkPublished, checkRenamed, checkSender, problemOf, warningsOf } from './checks.js'
import { eventSettings, hookSettings, routesSettings, scheduleSettings, typeSettings, webhookSettings } from './code-settings.js'
import { type DatabaseConfig, databaseOf, databaseSettings, defaultFile } from './database.js'
import { addToProcess, booleanOf, type Environment, processEnvironment, setOnly } from './environment.js'
import { hasGeneratedSecrets, merged, readDotEnv, readOctavoConfig, type SourceOf, withVariable } from './files.js'
import { corsSettings, httpSettings } from './http.js'
import { limitSettings } from './limits.js'
import {
  isLoopback,
  type ManagementConfig,
  managementOf,
  managementSettings,
  type NetworkConfig,
  networkOf,
  processesOf,
  processSettings,
} from './network.js'
import { type PreviewConfig, previewOf, readStrapiPreview } from './preview.js'
import { refuseShort, type SecretsConfig, secretsOf, setSecrets } from './secrets.js'
import { givenStorage, type StorageConfig, storageOf, storageProblem } from './storage.js'
import { readStrapiDatabase, readStrapiSecrets, readStrapiSettings, type StrapiDatabase, type StrapiSettings } from './strapi.js'

/** The description of the API, for programs at `/openapi.json` below the prefix and for people at `/docs`. */
const docsSettings = () => z.strictObject({ enabled: z.boolean().default(true) }).prefault({})

/** Settings are functions that make their schemas: a process parses them once, and the schemas would take megabytes for its life. */
const configFile = () =>
  z.strictObject({
    admin: adminSettings().prefault({}),
    host: z.string().optional(),
    port: z.int().min(0).max(65_535).optional(),
    /** The public URL of the service, used in e-mails and redirects. */
    url: z.url({ protocol: /^https?$/ }).optional(),
    /** Number of trusted reverse proxies in front of the service (X-Forwarded-For). */
    trustProxy: z.int().min(0).max(10).default(0),
    /** Service processes of `octavo start` that share the port; `auto`: one for each core. */
    processes: processSettings(),
    api: apiSettings().prefault({}),
    auth: authSettings().prefault({}),
    docs: docsSettings(),
    mail: z.strictObject({ url: z.string().optional(), from: z.string().optional() }).prefault({}),
    database: databaseSettings().prefault({}),
    uploads: z
      .strictObject({
        folder: z.string().optional(),
        /** The storage of new files. */
        storage: givenStorage().prefault({ provider: 'local' }),
        /** Media types that may be uploaded (`image/*`, `application/pdf`); if empty, all but the denied ones. */
        allowedTypes: z.array(z.string()).default([]),
        deniedTypes: z.array(z.string()).default([]),
      })
      .prefault({}),
    cors: corsSettings().prefault({}),
    http: httpSettings().prefault({}),
    /** Serve a page at / that lists the content-types and requests to try. */
    startPage: z.boolean().default(true),
    /** Compress responses for clients that accept it; false where a proxy in front of the service does. */
    compression: z.boolean().default(true),
    hooks: z.array(hookSettings()).readonly().default([]),
    types: typeSettings().default({}),
    /** The types of custom fields, by uid: `"plugin::color-picker.color": "string"`. */
    customFields: z.record(z.string(), z.enum(scalarTypes)).readonly().default({}),
    routes: routesSettings().default([]),
    schedules: scheduleSettings().default([]),
    events: eventSettings().prefault({}),
    webhooks: webhookSettings().prefault({}),
    management: managementSettings().prefault({}),
    /** Add spans to the traces of OpenTelemetry; absent: where code of the project has registered an SDK before the start. */
    tracing: z.boolean().optional(),
    /** For external caches: the header with the keys of a response, which purge it. */
    cache: z.strictObject({ surrogateKeys: z.literal([false, 'Surrogate-Key', 'Cache-Tag']).default(false) }).prefault({}),
    /** Target of the audit log: `stdout` (in the log) or a file; absent: there is no audit log. */
    auditLog: z.string().min(1).optional(),
    log: z.strictObject({ level: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).optional() }).prefault({}),
    limits: limitSettings().prefault({}),
  })

/** The contents of octavo.config.{ts,js,json}; everything is optional. */
export type UserConfig = z.input<ReturnType<typeof configFile>>

/** The complete configuration of a project. */
export interface Config extends ApiConfig, NetworkConfig, SecretsConfig {
  readonly folder: string
  /** Short secrets end the start unless the project turns out to be one of Strapi. */
  readonly refusesShortSecrets: boolean
  /** Production hides timings and is the default for an unknown NODE_ENV. */
  readonly production: boolean
  /** Write e-mails that cannot be sent to the log, including their codes: only if NODE_ENV is `development`. */
  readonly logsEmails: boolean
  /** The model may be changed while serving (`admin.model`). */
  readonly modelChanges: boolean
  /** Explain errors in requests (`src/http/hints/`), regardless of the caller's permissions: only if NODE_ENV is `development`. */
  readonly hints: boolean
  readonly database: DatabaseConfig
  readonly uploadsFolder: string
  readonly storage: StorageConfig
  /** Media types that may be uploaded; if `allowed` is empty, all but the denied ones. */
  readonly uploadTypes: { readonly allowed: readonly string[]; readonly denied: readonly string[] }
  readonly auth: Readonly<z.output<ReturnType<typeof authSettings>> & { readonly sharedLimits: boolean }>
  /** The administration API. */
  readonly admin: Readonly<Omit<z.output<ReturnType<typeof adminSettings>>, 'preview'>> & { readonly preview: PreviewConfig | null }
  /** True if the API describes itself, with what a caller may do. */
  readonly docs: Readonly<z.output<ReturnType<typeof docsSettings>>>
  readonly mail: { readonly url: string | null; readonly from: string | null }
  readonly corsOrigins: '*' | readonly string[]
  readonly corsHeaders: readonly string[]
  /** Headers of every response, by name in lower case; they take the place of security defaults. */
  readonly responseHeaders: Readonly<Record<string, string>>
  /** A page at / lists the content-types; in production, only those that are public. */
  readonly startPage: boolean
  /** Responses are compressed for clients that accept it. */
  readonly compression: boolean
  readonly logLevel: string
  /** Service processes of `octavo start` that share the port; with one, the command serves by itself. */
  readonly processes: number
  /** Null: there is no management port. */
  readonly management: ManagementConfig | null
  /** The header with the keys of responses to everybody; null: they have none. */
  readonly surrogateKeys: 'Surrogate-Key' | 'Cache-Tag' | null
  /** `stdout`, or the path of a file; null: there is no audit log. */
  readonly auditLog: string | null
  /** True if spans are added to traces; null: where an SDK is registered. */
  readonly tracing: boolean | null
  readonly hooks: readonly Hook[]
  /** By uid, what the project decides for a content-type. */
  readonly types: Readonly<Record<string, TypeSettings>>
  /** The types of custom fields, by uid. */
  readonly customFields: Readonly<Record<string, ScalarType>>
  /** The routes that the project adds, as they were defined. */
  readonly routes: readonly CustomRoute[]
  readonly schedules: readonly Schedule[]
  readonly events: {
    readonly outbox: boolean
    readonly listeners: readonly EventListener[]
    /** The stream of events below the prefix of the API; null: there is none. */
    readonly stream: { readonly path: string } | null
  }
  readonly webhooks: Readonly<Required<z.output<ReturnType<typeof webhookSettings>>>>
  readonly limits: Readonly<z.output<ReturnType<typeof limitSettings>> & { readonly drainDelay: number }>
  /** The default locale of a new database. */
  readonly initialLocale: string
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
 * Reads the configuration of the project in `folder`: its octavo.config, its .env, and the environment, which takes precedence. Unless
 * `given` is another environment than that of the process, code of the project finds the variables of .env in process.env.
 * @throws ConfigError with a sentence that names the invalid value.
 */
export async function loadConfig(
  folder: string,
  given: Environment | null = null,
  makeSecret: () => string = randomSecret,
): Promise<Config> {
  return (await readConfig(folder, given, makeSecret)).config
}

/** Settings before they are completed: the parsed configuration, and where its values come from. */
export interface SettingSources {
  readonly settings: object
  /** The configuration as octavo.config and OCTAVO_CONFIG have it. */
  readonly given: unknown
  readonly source: SourceOf
  /** What Strapi's configuration sets, where octavo.config does not. */
  readonly strapi: readonly StrapiSettings[]
  /** The files of secrets that Strapi's configuration sets, by variable. */
  readonly strapiSecrets: Readonly<Record<string, string>>
  readonly environment: Environment
  /** The variables in .env. */
  readonly own: Environment
}

/** Reads the configuration as `loadConfig` does, with the sources of the settings. @throws ConfigError as for `loadConfig` */
export async function readConfig(
  folder: string,
  given: Environment | null = null,
  makeSecret: () => string = randomSecret,
): Promise<{ readonly config: Config; readonly read: SettingSources }> {
  const root = resolve(folder)
  if (!existsSync(root)) throw new ConfigError(`The folder ${root} does not exist.`)
  const own = readDotEnv(root)
  const variables = { ...own, ...setOnly(given ?? processEnvironment()) }
  if (given === null) addToProcess(own)
  const strapiSecrets = await readStrapiSecrets(root, variables)
  const environment = { ...strapiSecrets.values, ...variables }
  checkRenamed(environment)
  const octavoConfig = await readOctavoConfig(root)
  const { config, source } = withVariable(octavoConfig.config, octavoConfig.source, environment)
  const strapi = await strapiSettingsOf(root, environment, config)
  const below = strapi.read.reduce<unknown>((all, one) => merged(all, one.config), {})
  const settings = checked(configFile(), merged(below, config), source)
  checkTogether(config as UserConfig, source)
  const isNamed = environment.DATABASE_FILENAME !== undefined || settings.database.filename !== undefined
  const strapiDatabase = isNamed ? null : await readStrapiDatabase(root, environment)
  const isPreviewed = settings.admin.preview !== undefined || !settings.admin.enabled
  const strapiPreview = isPreviewed ? null : await readStrapiPreview(root, environment)
  const assembled = assemble({
    root,
    given: settings,
    environment,
    own,
    strapiDatabase,
    strapiPreview,
    strapiWarnings: [...strapiSecrets.warnings, ...strapi.warnings],
    makeSecret,
  })
  return {
    config: assembled,
    read: { settings, given: config, source, strapi: strapi.read, strapiSecrets: strapiSecrets.sources, environment, own },
  }
}

/** Reads `config/api` and the settings in other files of Strapi. @throws ConfigError if `config/api` cannot be read or is invalid */
async function strapiSettingsOf(root: string, environment: Environment, given: unknown): ReturnType<typeof readStrapiSettings> {
  const schema = configFile()
  const { read, warnings } = await readStrapiSettings(root, environment, given, (config) => schema.safeParse(config).success)
  const file = await readStrapiApi(root, environment)
  if (file === null) return { read, warnings }
  const api = checked(strapiApi(), file.config, () => file.source)
  return { read: [...read, { config: { api }, source: file.source }], warnings: [...file.warnings, ...warnings] }
}

/** @throws ConfigError for two values that contradict each other, if both are set explicitly */
function checkTogether({ api, database }: UserConfig, source: SourceOf): void {
  const { defaultLimit, maxLimit = 100 } = api?.rest ?? {}
  if (defaultLimit !== undefined && defaultLimit > maxLimit)
    throw new ConfigError(
      `Invalid configuration (${source(['api', 'rest', 'defaultLimit'])}): api.rest.defaultLimit is ${defaultLimit}, above api.rest.maxLimit (${maxLimit}).`,
    )
  const { readerThreads, maxReaderThreads } = database ?? {}
  if (readerThreads !== undefined && maxReaderThreads !== undefined && readerThreads > maxReaderThreads)
    throw new ConfigError(
      `Invalid configuration (${source(['database', 'readerThreads'])}): database.readerThreads is ${readerThreads}, above database.maxReaderThreads (${maxReaderThreads}).`,
    )
}

function checked<Schema extends z.ZodType>(schema: Schema, value: unknown, source: SourceOf): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]!
  const place = issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0]!] : issue.path
  throw new ConfigError(`Invalid configuration (${[source(place), ...pathOf(issue)].join(', ')}): ${problemOf(issue, schema)}`)
}

/** The path of an invalid value as text, such as `hooks[0].before`; empty for the file itself. */
function pathOf({ path }: z.core.$ZodIssue): readonly string[] {
  if (path.length === 0) return []
  return [path.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${String(key)}`)).join('')]
}

/** Sources of a configuration. */
interface ConfigSources {
  readonly root: string
  readonly given: z.output<ReturnType<typeof configFile>>
  readonly environment: Environment
  /** The variables in .env. */
  readonly own: Environment
  /** Strapi's config/database, if nothing else names the database file. */
  readonly strapiDatabase: StrapiDatabase | null
  /** The preview of Strapi's config/admin. */
  readonly strapiPreview: Awaited<ReturnType<typeof readStrapiPreview>>
  /** About the rest of Strapi's configuration. */
  readonly strapiWarnings: readonly string[]
  makeSecret(): string
}

function assemble(sources: ConfigSources): Config {
  const { root, given, environment, own, strapiDatabase, strapiPreview, strapiWarnings, makeSecret } = sources
  const api = apiOf(root, given.api)
  const database = databaseOf({ root, environment, given: given.database, strapi: strapiDatabase }, api.contract === 'specification')
  checkPublished(environment)
  const secrets = secretsOf(environment, makeSecret)
  const refusesShortSecrets = environment.NODE_ENV === 'production' && api.contract === 'specification'
  if (refusesShortSecrets && !api.isContractGuessed) refuseShort(secrets)
  const storage = storageFrom(given.uploads.storage, environment)
  const network = networkOf(environment, given)
  const processes = processesOf(environment, given.processes)
  const production = environment.NODE_ENV !== 'development' && environment.NODE_ENV !== undefined
  const isDevelopment = environment.NODE_ENV === 'development'
  return Object.freeze({
    folder: root,
    ...network,
    ...api,
    ...secrets,
    refusesShortSecrets,
    database,
    auth: { ...given.auth, sharedLimits: given.auth.sharedLimits ?? processes > 1 },
    admin: { ...given.admin, preview: previewOf(given.admin.preview) ?? strapiPreview?.preview ?? null },
    docs: given.docs,
    mail: mailOf(environment, given.mail),
    production,
    ...{ logsEmails: isDevelopment, hints: isDevelopment },
    modelChanges: given.admin.model === 'always' || (given.admin.model === 'development' && isDevelopment),
    uploadsFolder: resolve(root, environment.UPLOADS_DIR ?? given.uploads.folder ?? 'public/uploads'),
    storage,
    uploadTypes: { allowed: given.uploads.allowedTypes, denied: given.uploads.deniedTypes },
    ...{ corsOrigins: given.cors.origins, corsHeaders: given.cors.headers, responseHeaders: given.http.headers },
    ...{ startPage: given.startPage, compression: given.compression },
    processes,
    management: managementOf(environment, given.management, network.port),
    surrogateKeys: given.cache.surrogateKeys || null,
    auditLog: auditLogOf(root, environment.OCTAVO_AUDIT_LOG ?? given.auditLog),
    tracing: booleanOf(environment, 'OCTAVO_TRACING') ?? given.tracing ?? null,
    logLevel: logLevelOf(environment.LOG_LEVEL ?? given.log.level ?? 'info'),
    hooks: given.hooks,
    types: given.types as Config['types'],
    customFields: given.customFields,
    routes: given.routes,
    schedules: given.schedules,
    events: given.events,
    webhooks: { defaultHeaders: {}, allowPrivateAddresses: !production, ...given.webhooks },
    limits: { ...given.limits, drainDelay: given.limits.drainDelay ?? (production && !isLoopback(network.host) ? 5_000 : 0) },
    initialLocale: environment.STRAPI_PLUGIN_I18N_INIT_LOCALE_CODE || 'en',
    startedBefore: hasGeneratedSecrets(root) ? '.env has secrets from an earlier start' : null,
    allowsNewDatabase: false,
    warnings: [
      ...databaseWarnings(database),
      ...(strapiPreview?.problem ? [strapiPreview.problem] : []),
      ...strapiWarnings,
      ...warningsOf(root, environment, own, setSecrets(environment)),
    ],
  })
}

const databaseWarnings = ({ problem }: DatabaseConfig): readonly string[] =>
  problem === null ? [] : [`${problem}; using ${defaultFile}. Set DATABASE_FILENAME to use another file`]

/** @throws ConfigError that names the invalid value */
function storageFrom(given: z.output<ReturnType<typeof givenStorage>>, environment: Environment): StorageConfig {
  const storage = storageOf(given, environment)
  if (!storage.success) throw new ConfigError(storageProblem(storage.error))
  return storage.data
}

function mailOf({ SMTP_URL, MAIL_FROM }: Environment, given: z.output<ReturnType<typeof configFile>>['mail']): Config['mail'] {
  const [url, from] = [SMTP_URL ?? given.url ?? null, MAIL_FROM ?? given.from ?? null]
  if (url !== null) checkMailServer(SMTP_URL === undefined ? 'mail.url' : 'SMTP_URL', url)
  if (from !== null) checkSender(MAIL_FROM === undefined ? 'mail.from' : 'MAIL_FROM', from)
  return { url, from }
}

const auditLogOf = (root: string, given: string | undefined): string | null =>
  given === undefined || given === 'stdout' ? (given ?? null) : resolve(root, given)

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

function logLevelOf(level: string): string {
  if (!logLevels.includes(level)) throw new ConfigError(`LOG_LEVEL is "${level}"; it must be one of ${logLevels.join(', ')}.`)
  return level
}
