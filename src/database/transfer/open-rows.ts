// Opens databases for copies of all rows from one to another.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Database as Connection } from 'better-sqlite3'
import type pg from 'pg'
import type { ServerSettings } from '../../foundation/config/database.js'
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
import { classifyError } from '../sqlite/errors.js'
import { createEmptyTables } from '../sqlite/prepare-database.js'
import { sqliteSource, sqliteTarget } from '../sqlite/rows.js'
import type { RowSource, RowTarget } from './rows.js'

export interface RowsOptions {
  /** Settings of SQLite connections; the file is ignored. */
  readonly sqlite: SqliteOptions
  /** Settings of server connections: TLS, and the schema on PostgreSQL. */
  readonly server: Pick<ServerSettings, 'schema' | 'ssl'>
  /** Milliseconds to wait for a connection, and for a process that prepares the same database. */
  readonly wait: number
}

/** Opens the rows of one kind of database. `address`: a URL or a file; `name`: its form without a password. */
interface RowDriver {
  /** The beginning of its URLs; null: it is a file. */
  readonly scheme: RegExp | null
  /** `model`: tables and columns have its names, also where the database has shorter ones. */
  source(address: string, name: string, options: RowsOptions, model?: Model): Promise<RowSource>
  /** Gives the database the tables of the model that it lacks. */
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

/** Closes the database on failure and names it in the error. @throws ConfigError */
async function explainFailure<Result>(name: string, close: () => Promise<unknown>, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    await close()
    if (error instanceof ConfigError) throw error
    throw new ConfigError(`${name} cannot be used: ${(error as Error).message}`)
  }
}

/** Lends a dedicated PostgreSQL connection. */
async function onPostgres<Result>(
  url: string,
  name: string,
  options: RowsOptions,
  prepare: (pool: pg.Pool) => Promise<unknown>,
  open: (client: pg.PoolClient, close: () => Promise<void>) => Result | Promise<Result>,
): Promise<Result> {
  const pool = openPool(toServerSettings(url, options), { max: 2, pipelined: false, failed: () => {} })
  return explainFailure(
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

/** Lends a dedicated MySQL or MariaDB connection. */
async function onMysql<Result>(
  url: string,
  name: string,
  options: RowsOptions,
  prepare: (pool: Pool) => Promise<unknown>,
  open: (client: Client, close: () => Promise<void>) => Result | Promise<Result>,
): Promise<Result> {
  const pool = openMysqlPool(toServerSettings(url, options), { max: 2, failed: () => {} })
  return explainFailure(name, pool.close, async () => {
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

/** The driver of an address. */
const getRowDriver = (address: string): RowDriver => [postgres, mysql].find(({ scheme }) => scheme!.test(address)) ?? sqlite

/** An address as it may be shown and noted. @throws ConfigError for a URL that cannot be read */
function formatAddress(address: string, schema: string): string {
  const driver = getRowDriver(address)
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
  getRowDriver(address).source(address, formatAddress(address, options.server.schema), options, model)

/** Opens a database that is copied into; it gets the tables of the model that it lacks. @throws ConfigError if it cannot be prepared */
export const openRowTarget = async (address: string, model: Model, options: RowsOptions): Promise<RowTarget> =>
  getRowDriver(address).target(address, formatAddress(address, options.server.schema), model, options)

/** Opens a SQLite database and prepares it. @throws ConfigError that names the file if it cannot be used */
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
