// Opens databases for copies of all rows from one to another.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Database as Connection } from 'better-sqlite3'
import type pg from 'pg'
import type { ServerSettings } from '../../foundation/config/database-server.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import type { Model } from '../../model/schema/types.js'
import { checkServer } from '../server/mysql/availability.js'
import type { Client } from '../server/mysql/client.js'
import { openPool as openMysqlPool, type Pool } from '../server/mysql/pool.js'
import { prepareDatabase as prepareMysql } from '../server/mysql/prepare-database.js'
import { mysqlSource, mysqlTarget } from '../server/mysql/rows.js'
import { checkSchema } from '../server/postgres/catalog.js'
import { openPool } from '../server/postgres/connection.js'
import { prepareDatabase } from '../server/postgres/prepare-database.js'
import { postgresSource, postgresTarget, withModelNames } from '../server/postgres/rows.js'
import { openSqlite, openSqliteReader, type SqliteOptions } from '../sqlite/connection.js'
import { faultOf } from '../sqlite/errors.js'
import { createEmptyTables } from '../sqlite/prepare-database.js'
import { sqliteSource, sqliteTarget } from '../sqlite/rows.js'
import type { RowSource, RowTarget } from './rows.js'

/** How the databases of a copy are reached. */
export interface RowsOptions {
  /** Settings of SQLite connections, whatever their file. */
  readonly sqlite: SqliteOptions
  /** Settings of connections to servers, whichever it is: the schema, on PostgreSQL, and TLS. */
  readonly server: Pick<ServerSettings, 'schema' | 'ssl'>
  /** Milliseconds to wait for a connection, and for a process that prepares the same database. */
  readonly wait: number
}

/** How one kind of database gives and takes rows. `address`: a URL, or a file; `name`: the same as it may be shown. */
interface RowDriver {
  /** The beginning of its URLs; null: it is a file. */
  readonly scheme: RegExp | null
  /** `model`: tables and columns have its names, also where the database has shorter ones. */
  source(address: string, name: string, options: RowsOptions, model?: Model): Promise<RowSource>
  /** Gives the database the tables of the model that it lacks. */
  target(address: string, name: string, model: Model, options: RowsOptions): Promise<RowTarget>
}

const settingsOf = (url: string, { server, wait }: RowsOptions): ServerSettings => ({
  ...server,
  ...{ url, host: '', port: 0, name: '', user: '', password: '', pool: { min: 0, max: 2 }, connectionTimeout: wait },
})

/** What is closed with a database, and where an error of it becomes a sentence. @throws ConfigError */
async function reached<Result>(name: string, close: () => Promise<unknown>, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    await close()
    if (error instanceof ConfigError) throw error
    throw new ConfigError(`${name} cannot be used: ${(error as Error).message}`)
  }
}

/** Opens a PostgreSQL database, and lends a connection of its own. */
async function onPostgres<Result>(
  url: string,
  name: string,
  options: RowsOptions,
  prepare: (pool: pg.Pool) => Promise<unknown>,
  open: (client: pg.PoolClient, close: () => Promise<void>) => Result | Promise<Result>,
): Promise<Result> {
  const pool = openPool(settingsOf(url, options), { max: 2, pipelined: false, failed: () => {} })
  return reached(
    name,
    () => pool.end(),
    async () => {
      await prepare(pool)
      const client = await pool.connect()
      client.on('error', () => {})
      return open(client, async () => {
        client.release()
        await pool.end()
      })
    },
  )
}

/** Opens a MySQL or MariaDB database, and lends a connection of its own. */
async function onMysql<Result>(
  url: string,
  name: string,
  options: RowsOptions,
  prepare: (pool: Pool) => Promise<unknown>,
  open: (client: Client, close: () => Promise<void>) => Result | Promise<Result>,
): Promise<Result> {
  const pool = openMysqlPool(settingsOf(url, options), { max: 2, failed: () => {} })
  return reached(name, pool.close, async () => {
    await checkServer(pool)
    await prepare(pool)
    const client = await pool.acquire()
    return open(client, async () => {
      pool.release(client, true)
      await pool.close()
    })
  })
}

const nothing = async () => {}

const postgres: RowDriver = {
  scheme: /^postgres(?:ql)?:\/\//,
  source: async (url, name, options, model) => {
    const { schema } = options.server
    const source = await onPostgres(
      url,
      name,
      options,
      (pool) => checkSchema(pool, schema),
      (client, close) => postgresSource(client, name, close),
    )
    return model === undefined ? source : withModelNames(source, model)
  },
  target: (url, name, model, options) => {
    const { schema } = options.server
    const prepare = (pool: pg.Pool) => prepareDatabase(pool, model, { schema, wait: options.wait, sessions: true, fill: nothing })
    return onPostgres(url, name, options, prepare, (client, close) => withModelNames(postgresTarget(client, name, 'batches', close), model))
  },
}

const mysql: RowDriver = {
  scheme: /^(?:mysql|mariadb):\/\//,
  source: (url, name, options) => onMysql(url, name, options, nothing, (client, close) => mysqlSource(client, name, close)),
  target: (url, name, model, options) => {
    const prepare = (pool: Pool) => prepareMysql(pool, model, { wait: options.wait, sessions: true, fill: nothing })
    return onMysql(url, name, options, prepare, (client, close) => mysqlTarget(client, name, 'batches', close))
  },
}

const sqlite: RowDriver = {
  scheme: null,
  source: async (file, name, options) => {
    if (!existsSync(file)) throw new ConfigError(`There is no database at ${name}`)
    const database = await opened(
      name,
      () => openSqliteReader({ ...options.sqlite, filename: resolve(file) }),
      (each) => each.exec('begin'),
    )
    return sqliteSource(database, name, () => void database.close())
  },
  target: async (file, name, model, options) => {
    const prepare = (database: Connection) => createEmptyTables(database, model, options.wait)
    const database = await opened(name, () => openSqlite({ ...options.sqlite, filename: resolve(file) }), prepare)
    return sqliteTarget(database, name, () => void database.close())
  },
}

/** The driver of an address. */
const rowDriverOf = (address: string): RowDriver => [postgres, mysql].find(({ scheme }) => scheme!.test(address)) ?? sqlite

/** An address as it may be shown and noted. @throws ConfigError for a URL that cannot be read */
function shownAddress(address: string, schema: string): string {
  const driver = rowDriverOf(address)
  if (driver === sqlite) return resolve(address)
  if (!URL.canParse(address))
    throw new ConfigError('The URL of a database cannot be read. Encode special characters of its password: %40 for @')
  const { host, pathname } = new URL(address)
  if (driver === mysql) return `mysql://${host}${pathname}`
  return `postgres://${host}${pathname}${schema === 'public' ? '' : ` (${schema})`}`
}

/**
 * Opens a database that is copied: a SQLite file or the URL of another database. `model`: tables and columns have its names, also where the
 * database has shorter ones.
 * @throws ConfigError if it is not there
 */
export const openRowSource = async (address: string, options: RowsOptions, model?: Model): Promise<RowSource> =>
  rowDriverOf(address).source(address, shownAddress(address, options.server.schema), options, model)

/** Opens a database that is copied into; it gets the tables of the model that it lacks. @throws ConfigError if it cannot be prepared */
export const openRowTarget = async (address: string, model: Model, options: RowsOptions): Promise<RowTarget> =>
  rowDriverOf(address).target(address, shownAddress(address, options.server.schema), model, options)

/** Opens a SQLite database and prepares it. @throws ConfigError that names the file if it cannot be used */
async function opened(name: string, open: () => Connection, prepare: (database: Connection) => unknown): Promise<Connection> {
  let database: Connection | null = null
  try {
    database = open()
    await prepare(database)
    return database
  } catch (error) {
    database?.close()
    throw faultOf(error) === null ? error : new ConfigError(`The database ${name} cannot be used: ${(error as Error).message}`)
  }
}
