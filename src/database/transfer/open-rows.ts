// Opens the source and the target of a copy.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Database as Connection } from 'better-sqlite3'
import type { ServerSettings } from '../../foundation/config/database.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import type { Model } from '../../model/schema/types.js'
import { reachAlone } from '../server/driver.js'
import type { ServerConnection, ServerKind } from '../server/kind.js'
import { mysql } from '../server/mysql/driver.js'
import { postgres } from '../server/postgres/driver.js'
import { openSqlite, openSqliteReader, type SqliteOptions } from '../sqlite/connection.js'
import { classifyError } from '../sqlite/errors.js'
import { createEmptyTables } from '../sqlite/prepare-database.js'
import { sqliteSource, sqliteTarget } from '../sqlite/rows.js'
import type { RowSource, RowTarget } from './rows.js'

export interface RowsOptions {
  /** Options of SQLite connections; the file is ignored. */
  readonly sqlite: SqliteOptions
  /** Server connection settings: TLS, and the schema on PostgreSQL. */
  readonly server: Pick<ServerSettings, 'schema' | 'ssl'>
  /** Milliseconds to wait for a connection, and for another process preparing the same database. */
  readonly wait: number
}

/** Opens the rows of one kind of database. `address`: a URL or a file; `name`: the same without a password. */
interface RowDriver {
  readonly scheme: RegExp | null
  /** `model`: report its full names for tables and columns that the database truncates. */
  source(address: string, name: string, options: RowsOptions, model?: Model): Promise<RowSource>
  target(address: string, name: string, model: Model, options: RowsOptions): Promise<RowTarget>
}

const toServerSettings = (url: string, { server, wait }: RowsOptions): ServerSettings => ({
  ...server,
  url,
  host: '',
  port: 0,
  name: '',
  user: '',
  password: '',
  pool: { min: 0, max: 2 },
  connectionTimeout: wait,
})

/** Rows on a server. Errors name it. */
function createServerRows<Client, Pool, Reached extends ServerConnection<Pool>>(
  scheme: RegExp,
  kind: ServerKind<Client, Pool, Reached>,
): RowDriver {
  const open = async <Result>(
    url: string,
    name: string,
    options: RowsOptions,
    work: (client: Client, close: () => Promise<void>, reached: Reached) => Promise<Result>,
  ): Promise<Result> => {
    try {
      return await reachAlone(kind, toServerSettings(url, options), work, name)
    } catch (error) {
      throw error instanceof ConfigError ? error : new ConfigError(`${name} cannot be used: ${(error as Error).message}`)
    }
  }
  return {
    scheme,
    source: (url, name, options, model) =>
      open(url, name, options, async (client, close, { settings }) => {
        await kind.checkSchema(client, settings)
        const source = await kind.openSource(client, name, close)
        return model === undefined ? source : kind.withModelNames(source, model)
      }),
    target: (url, name, model, options) =>
      open(url, name, options, async (client, close, reached) => {
        await kind.prepare(reached, model, { wait: options.wait, sessions: true, fill: async () => {} })
        return kind.withModelNames(kind.openTarget(client, name, close), model)
      }),
  }
}

const postgresRows = createServerRows(/^postgres(?:ql)?:\/\//, postgres)
const mysqlRows = createServerRows(/^(?:mysql|mariadb):\/\//, mysql)

const sqlite: RowDriver = {
  scheme: null,
  source: async (file, name, options) => {
    if (!existsSync(file)) throw new ConfigError(`There is no database at ${name}`)
    const database = await openPrepared(
      name,
      () => openSqliteReader({ ...options.sqlite, filename: resolve(file) }),
      (each) => each.exec('begin'),
    )
    return sqliteSource(database, name, () => void database.close())
  },
  target: async (file, name, model, options) => {
    const prepare = (database: Connection) => createEmptyTables(database, model, options.wait)
    const database = await openPrepared(name, () => openSqlite({ ...options.sqlite, filename: resolve(file) }), prepare)
    return sqliteTarget(database, name, () => void database.close())
  },
}

const getRowDriver = (address: string): RowDriver => [postgresRows, mysqlRows].find(({ scheme }) => scheme!.test(address)) ?? sqlite

/** The address for display, without a password. @throws ConfigError for an invalid URL */
function formatAddress(address: string, schema: string): string {
  const driver = getRowDriver(address)
  if (driver === sqlite) return resolve(address)
  if (!URL.canParse(address))
    throw new ConfigError('The URL of a database cannot be read. Encode special characters of its password: %40 for @')
  const { host, pathname } = new URL(address)
  if (driver === mysqlRows) return `mysql://${host}${pathname}`
  return `postgres://${host}${pathname}${schema === 'public' ? '' : ` (${schema})`}`
}

/**
 * Opens the source of a copy: a SQLite file or a server's URL. `model`: report its full names for tables and columns that the database
 * truncates.
 * @throws ConfigError if it does not exist
 */
export const openRowSource = async (address: string, options: RowsOptions, model?: Model): Promise<RowSource> =>
  getRowDriver(address).source(address, formatAddress(address, options.server.schema), options, model)

/** Opens the target of a copy, creating the model's missing tables. @throws ConfigError if it cannot be prepared */
export const openRowTarget = async (address: string, model: Model, options: RowsOptions): Promise<RowTarget> =>
  getRowDriver(address).target(address, formatAddress(address, options.server.schema), model, options)

/** Opens and prepares a SQLite database. @throws ConfigError that names the file if it cannot be used */
async function openPrepared(name: string, open: () => Connection, prepare: (database: Connection) => unknown): Promise<Connection> {
  let database: Connection | null = null
  try {
    database = open()
    await prepare(database)
    return database
  } catch (error) {
    database?.close()
    throw classifyError(error) === null ? error : new ConfigError(`The database ${name} cannot be used: ${(error as Error).message}`)
  }
}
