// The database server of a project: Strapi's environment variables, and what its config/database says.
import * as z from 'zod'
import { ConfigError } from '../errors/errors.js'
import { plainMessage, withoutPassword } from './checks.js'
import { clientNamed, clientOfUrl, type DatabaseClient } from './database-client.js'
import type { Environment } from './environment.js'
import type { StrapiDatabase } from './files.js'

/** How to reach a server, and how many connections to hold. */
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

/** The ports on which the servers listen. */
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

/** Drivers guess at texts that are not URLs, and look for a host that nobody named. PostgreSQL also has URLs of sockets. */
function checkUrl(client: Exclude<DatabaseClient, 'sqlite'>, { DATABASE_URL = '' }: Environment): void {
  if (DATABASE_URL === '' || clientOfUrl(DATABASE_URL) === client) return
  if (client === 'postgres' && /^(?:\/|socket:)/.test(DATABASE_URL)) return
  throw new ConfigError(`DATABASE_URL is "${withoutPassword(DATABASE_URL)}"; it must be a URL like ${examples[client]}.`)
}

/** What is said of a server; what is not has its default. */
type Given = { readonly [Key in keyof Omit<ServerSettings, 'pool'>]?: ServerSettings[Key] | undefined } & {
  readonly pool: { readonly min?: number | undefined; readonly max?: number | undefined }
}

/** The URLs of read replicas, which `DATABASE_REPLICA_URLS` lists with commas. @throws ConfigError */
export function replicasOf(client: DatabaseClient, { DATABASE_REPLICA_URLS = '' }: Environment): readonly string[] {
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
