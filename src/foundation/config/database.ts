// Settings of the database: which one it is, how to reach it, and how it is used.

import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import * as z from 'zod'
import { ConfigError } from '../errors/errors.js'
import { plainMessage, withoutPassword } from './checks.js'
import { booleanOf, type Environment, integerOf } from './environment.js'
import type { StrapiDatabase } from './strapi.js'

/** The most reader threads; each takes some megabytes. */
const mostReaders = 64

/** `database` in octavo.config. */
export const databaseSettings = () =>
  z.strictObject({
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

/** The settings of the database. */
export interface DatabaseConfig {
  readonly client: DatabaseClient
  /** True if lists are sorted with null as the smallest value, as the contract says, wherever a database has it by itself. */
  readonly nullsFirst: boolean
  /** Null: the database is a SQLite file. */
  readonly server: ServerSettings | null
  /** URLs of read replicas, on PostgreSQL. */
  readonly replicas: readonly string[]
  readonly filename: string
  /** Why the database file is unknown from Strapi's config/database; null if it is known, or set elsewhere. */
  readonly problem: string | null
  readonly readerThreads: number
  readonly maxReaderThreads: number
  readonly indexes: boolean
  readonly busyTimeout: number
  readonly mmapBytes: number
  readonly cacheKibibytes: number
}

/** Sources of the database settings. */
interface DatabaseSources {
  readonly root: string
  readonly environment: Environment
  readonly given: z.output<ReturnType<typeof databaseSettings>>
  /** Strapi's config/database, if nothing else names the database file. */
  readonly strapi: StrapiDatabase | null
}

/** Completes the settings of the database. @throws ConfigError that names the invalid value */
export function databaseOf({ root, environment, given, strapi }: DatabaseSources, nullsFirst: boolean): DatabaseConfig {
  const client = clientOf(environment, strapi, sqliteEvidence(root, environment, given))
  const server = serverOf(client, environment, strapi)
  return {
    ...given,
    ...readerThreadsOf(environment, given),
    client,
    nullsFirst,
    server,
    replicas: replicasOf(client, environment),
    filename: resolve(root, environment.DATABASE_FILENAME ?? given.filename ?? strapi?.filename ?? defaultFile),
    problem: server === null ? (strapi?.problem ?? null) : null,
    indexes: booleanOf(environment, 'OCTAVO_DATABASE_INDEXES') ?? given.indexes ?? false,
  }
}

/** The SQLite file of a project that names none. */
export const defaultFile = '.tmp/data.db'

/** Evidence of SQLite in a project without a client, as the beginning of a sentence; null if there is none. */
function sqliteEvidence(root: string, { DATABASE_FILENAME }: Environment, { filename }: DatabaseSources['given']): string | null {
  if (DATABASE_FILENAME !== undefined) return 'DATABASE_FILENAME names a SQLite file'
  if (filename !== undefined) return 'database.filename names a SQLite file'
  return existsSync(resolve(root, defaultFile)) ? `There is a SQLite file at ${defaultFile}` : null
}

function readerThreadsOf(
  environment: Environment,
  given: DatabaseSources['given'],
): Pick<DatabaseConfig, 'readerThreads' | 'maxReaderThreads'> {
  const threads = (name: string) => integerOf(environment, name, 1, mostReaders)
  const readerThreads = threads('OCTAVO_DATABASE_READER_THREADS') ?? given.readerThreads ?? Math.min(4, Math.max(2, availableParallelism()))
  const most = threads('OCTAVO_DATABASE_MAX_READER_THREADS') ?? given.maxReaderThreads ?? 2 * readerThreads
  return { readerThreads, maxReaderThreads: Math.max(readerThreads, most) }
}

/** The databases that a project can be on, by the names of `DATABASE_CLIENT`. */
export type DatabaseClient = 'sqlite' | 'postgres' | 'mysql'

const clients: Readonly<Record<string, DatabaseClient>> = {
  sqlite: 'sqlite',
  'better-sqlite3': 'sqlite',
  postgres: 'postgres',
  pg: 'postgres',
  mysql: 'mysql',
  mysql2: 'mysql',
}

/** The clients of servers by the schemes of their URLs. */
const schemes: Readonly<Record<string, DatabaseClient>> = { postgres: 'postgres', postgresql: 'postgres', mysql: 'mysql', mariadb: 'mysql' }

/** The client that has the name `name`; undefined: there is none. */
const clientNamed = (name: string): DatabaseClient | undefined => (Object.hasOwn(clients, name) ? clients[name] : undefined)

/**
 * The database that a project is on. `sqliteEvidence`: evidence of SQLite as the beginning of a sentence, or null.
 * @throws ConfigError for an unsupported one, for both a server URL and a SQLite file, and for a host without a client
 */
function clientOf(environment: Environment, strapi: StrapiDatabase | null, sqliteEvidence: string | null): DatabaseClient {
  const given = givenClient(environment, strapi)
  if (given === null && sqliteEvidence === null) return clientOfServer(environment)
  if (given === null) {
    const ofUrl = clientOfUrl(environment.DATABASE_URL ?? '')
    if (ofUrl === undefined) return 'sqlite'
    throw new ConfigError(
      `${sqliteEvidence}, but DATABASE_URL names a server. Set DATABASE_CLIENT to sqlite or ${ofUrl}, or remove one of the two.`,
    )
  }
  const [source, name] = given
  const client = clientNamed(name)
  if (client === undefined) throw new ConfigError(`${source} is "${name}"; this version of Octavo supports sqlite, postgres and mysql.`)
  return client
}

/** The source of the client as the beginning of a sentence, and its name; null if it is not set. */
function givenClient({ DATABASE_CLIENT }: Environment, strapi: StrapiDatabase | null): readonly [string, string] | null {
  if (DATABASE_CLIENT !== undefined) return ['DATABASE_CLIENT', DATABASE_CLIENT]
  return strapi === null || strapi.client === null ? null : ["The database client in Strapi's config/database", strapi.client]
}

/** The client where no setting says one. @throws ConfigError for a server of an unknown kind */
function clientOfServer(environment: Environment): DatabaseClient {
  const { DATABASE_URL = '', DATABASE_HOST = '' } = environment
  const ofUrl = clientOfUrl(DATABASE_URL)
  if (ofUrl !== undefined) return ofUrl
  if (DATABASE_URL !== '')
    throw new ConfigError(
      'DATABASE_URL begins with none of postgres://, mysql:// and mariadb://. Correct it, or remove it and set DATABASE_FILENAME to use a SQLite file.',
    )
  if (DATABASE_HOST !== '')
    throw new ConfigError(
      'DATABASE_HOST is set, but DATABASE_CLIENT is not. Set DATABASE_CLIENT to postgres or mysql, or to sqlite to use a SQLite file.',
    )
  return 'sqlite'
}

/** The client of a URL by its scheme; undefined if it is not the URL of a supported server. */
export function clientOfUrl(url: string): DatabaseClient | undefined {
  const scheme = /^([a-z]+):\/\//i.exec(url)?.[1]?.toLowerCase() ?? ''
  return Object.hasOwn(schemes, scheme) ? schemes[scheme] : undefined
}

/** Address of a server, and size of its pool. */
export interface ServerSettings {
  /** Takes precedence over host, port, name, user and password; null: not given. */
  readonly url: string | null
  /** A path is that of a socket: of its folder on PostgreSQL, of itself on MySQL. */
  readonly host: string
  readonly port: number
  readonly name: string
  readonly user: string
  readonly password: string
  /** The schema of all tables, on PostgreSQL. It is never created. */
  readonly schema: string
  /** Settings for TLS; false: none. */
  readonly ssl: false | Readonly<Record<string, string | boolean>>
  /** Connections of reads and writes together; at least and at most. */
  readonly pool: { readonly min: number; readonly max: number }
  /** Milliseconds to wait for a connection. */
  readonly connectionTimeout: number
}

const text = () => z.string().optional()
const whole = () => z.coerce.number().int().nonnegative().optional()
/** The most connections of a pool: without one, no request would be answered. */
const mostConnections = () => z.coerce.number().int().min(1).optional()
const flag = () => z.enum(['true', 'false']).optional()

/** The variables of Strapi's scaffold. */
const variables = () =>
  z.object({
    DATABASE_URL: text(),
    DATABASE_HOST: text(),
    DATABASE_PORT: whole(),
    DATABASE_NAME: text(),
    DATABASE_USERNAME: text(),
    DATABASE_PASSWORD: text(),
    DATABASE_SCHEMA: text(),
    DATABASE_SSL: flag(),
    DATABASE_SSL_KEY: text(),
    DATABASE_SSL_CERT: text(),
    DATABASE_SSL_CA: text(),
    DATABASE_SSL_CAPATH: text(),
    DATABASE_SSL_CIPHER: text(),
    DATABASE_SSL_REJECT_UNAUTHORIZED: flag(),
    DATABASE_POOL_MIN: whole(),
    DATABASE_POOL_MAX: mostConnections(),
    DATABASE_CONNECTION_TIMEOUT: whole(),
  })

/** The names of all environment variables of a database server. */
export const databaseVariables = (): readonly string[] => ['DATABASE_CLIENT', 'DATABASE_REPLICA_URLS', ...Object.keys(variables().shape)]

const ssl = () => z.union([z.boolean(), z.record(z.string(), z.unknown())]).optional()

/** The parts of `connection` in Strapi's config/database that name a server. */
const strapiConnection = () =>
  z.object({
    connection: z
      .object({
        connectionString: text(),
        host: text(),
        /** On MySQL. */
        socketPath: text(),
        port: whole(),
        database: text(),
        user: text(),
        password: text(),
        schema: text(),
        ssl: ssl(),
      })
      .default({}),
    pool: z.object({ min: whole(), max: mostConnections() }).default({}),
    acquireConnectionTimeout: whole(),
  })

/** Default ports. */
const ports = { postgres: 5432, mysql: 3306 }

/** Connections and milliseconds where nothing else is said, as in Strapi's scaffold; but a request waits less long. */
const defaults = { pool: { min: 2, max: 10 }, connectionTimeout: 3_000 }

/**
 * The server of a project: what Strapi's config/database says where it names one, otherwise the environment. Null: the project is on a file.
 * @throws ConfigError with a sentence that names the invalid value
 */
export function serverOf(client: DatabaseClient, environment: Environment, strapi: StrapiDatabase | null): ServerSettings | null {
  if (client === 'sqlite') return null
  const named = strapi?.client != null && clientNamed(strapi.client) === client ? strapi.connection : null
  if (named === null) checkUrl(client, environment)
  return settingsOf(named === null ? fromEnvironment(environment) : fromStrapi(named), ports[client])
}

const examples = { postgres: 'postgres://user:password@host:5432/database', mysql: 'mysql://user:password@host:3306/database' }

/** Drivers guess at values that are not URLs, and connect to an unintended host. PostgreSQL also has socket URLs. */
function checkUrl(client: Exclude<DatabaseClient, 'sqlite'>, { DATABASE_URL = '' }: Environment): void {
  if (DATABASE_URL === '' || clientOfUrl(DATABASE_URL) === client) return
  if (client === 'postgres' && /^(?:\/|socket:)/.test(DATABASE_URL)) return
  throw new ConfigError(`DATABASE_URL is "${withoutPassword(DATABASE_URL)}"; it must be a URL like ${examples[client]}.`)
}

/** The given settings of a server; the others have defaults. */
type Given = { readonly [Key in keyof Omit<ServerSettings, 'pool'>]?: ServerSettings[Key] | undefined } & {
  readonly pool: { readonly min?: number | undefined; readonly max?: number | undefined }
}

/** The URLs of read replicas, which `DATABASE_REPLICA_URLS` lists with commas. @throws ConfigError */
function replicasOf(client: DatabaseClient, { DATABASE_REPLICA_URLS = '' }: Environment): readonly string[] {
  const urls = DATABASE_REPLICA_URLS.split(',').flatMap((url) => (url.trim() === '' ? [] : [url.trim()]))
  if (urls.length > 0 && client !== 'postgres') throw new ConfigError('DATABASE_REPLICA_URLS: reads from replicas need PostgreSQL.')
  const wrong = urls.findIndex((url) => !/^postgres(?:ql)?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
  if (wrong >= 0) throw new ConfigError(`DATABASE_REPLICA_URLS: entry ${wrong + 1} is not a URL that begins with postgres://.`)
  return urls
}

const settingsOf = (given: Given, port: number): ServerSettings => ({
  url: given.url ?? null,
  host: given.host ?? 'localhost',
  port: given.port ?? port,
  name: given.name ?? 'strapi',
  user: given.user ?? 'strapi',
  password: given.password ?? '',
  schema: given.schema ?? 'public',
  ssl: given.ssl ?? false,
  pool: { min: given.pool.min ?? defaults.pool.min, max: given.pool.max ?? defaults.pool.max },
  connectionTimeout: given.connectionTimeout ?? defaults.connectionTimeout,
})

function fromEnvironment(environment: Environment): Given {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const given = parsed(variables(), set, 'the environment')
  return {
    url: given.DATABASE_URL,
    host: given.DATABASE_HOST,
    port: given.DATABASE_PORT,
    name: given.DATABASE_NAME,
    user: given.DATABASE_USERNAME,
    // An account without a password is a line of .env without a value, as `octavo init` writes it and Strapi reads it.
    password: environment.DATABASE_PASSWORD ?? 'strapi',
    schema: given.DATABASE_SCHEMA,
    ssl: given.DATABASE_SSL === 'true' ? sslOf(given) : false,
    pool: { min: given.DATABASE_POOL_MIN, max: given.DATABASE_POOL_MAX },
    connectionTimeout: given.DATABASE_CONNECTION_TIMEOUT,
  }
}

function sslOf(given: z.output<ReturnType<typeof variables>>): Readonly<Record<string, string | boolean>> {
  const files = {
    key: given.DATABASE_SSL_KEY,
    cert: given.DATABASE_SSL_CERT,
    ca: given.DATABASE_SSL_CA,
    capath: given.DATABASE_SSL_CAPATH,
    cipher: given.DATABASE_SSL_CIPHER,
  }
  const set = Object.entries(files).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return { ...Object.fromEntries(set), rejectUnauthorized: given.DATABASE_SSL_REJECT_UNAUTHORIZED !== 'false' }
}

/** The server that Strapi's config/database names. @throws ConfigError */
function fromStrapi(server: unknown): Given {
  const { connection, pool, acquireConnectionTimeout } = parsed(strapiConnection(), server, "Strapi's config/database")
  const { socketPath, ...given } = connection
  return {
    ...given,
    host: socketPath || given.host,
    url: connection.connectionString,
    name: connection.database,
    ssl: connection.ssl === true ? { rejectUnauthorized: true } : (connection.ssl as ServerSettings['ssl'] | undefined),
    pool,
    connectionTimeout: acquireConnectionTimeout,
  }
}

function parsed<Schema extends z.ZodType>(schema: Schema, value: unknown, source: string): z.output<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new ConfigError(`Invalid database settings in ${source}: ${issue!.path.join('.')}: ${plainMessage(issue!.message)}.`)
}
