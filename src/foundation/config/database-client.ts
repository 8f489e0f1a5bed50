// Which database a project is on: what the environment and Strapi's config/database say, otherwise what the URL of a server says.
import { ConfigError } from '../errors/errors.js'
import type { Environment } from './environment.js'
import type { StrapiDatabase } from './files.js'

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
export const clientNamed = (name: string): DatabaseClient | undefined => (Object.hasOwn(clients, name) ? clients[name] : undefined)

/**
 * The database that a project is on. `sqliteEvidence`: what else says that it is SQLite, as the beginning of a sentence; null: nothing does.
 * @throws ConfigError for one that is not supported, for the URL of a server beside a SQLite file, and for a host without a client
 */
export function clientOf(environment: Environment, strapi: StrapiDatabase | null, sqliteEvidence: string | null): DatabaseClient {
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

/** What says the client, as the beginning of a sentence, and its name; null: nothing does. */
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
