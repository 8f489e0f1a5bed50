// Opens databases for copies: of all rows from one to another, and of the first rows into a new one.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Database as Connection } from 'better-sqlite3'
import type pg from 'pg'
import type { PostgresSettings } from '../config/database-server.js'
import { ConfigError } from '../errors/errors.js'
import { newDocumentId } from '../model/document-id.js'
import type { Model } from '../model/types.js'
import { copyFirstRows } from './copy.js'
import type { FillDatabase } from './database.js'
import type { FillRows } from './driver.js'
import { checkSchema } from './postgres/catalog.js'
import { openPool } from './postgres/connection.js'
import { prepareDatabase } from './postgres/prepare-database.js'
import { postgresSource, postgresTarget } from './postgres/rows.js'
import type { RowSource, RowTarget } from './rows.js'
import { openSqlite, openSqliteReader, type SqliteOptions } from './sqlite/connection.js'
import { firstContents } from './sqlite/first-contents.js'
import { sqliteSource, sqliteTarget } from './sqlite/rows.js'
import { createEmptyTables } from './sqlite/sync-schema.js'

/** Fills a new database that is not SQLite with the first content of a model, which is made in memory. `locale`: the default one. */
export const firstRows =
  (locale: string, model: Model, fill: FillDatabase): FillRows =>
  async (target) => {
    const memory = await firstContents(model, { now: new Date(), newDocumentId, locale }, fill)
    try {
      await copyFirstRows(
        sqliteSource(memory, 'the first content', () => {}),
        target,
      )
    } finally {
      memory.close()
    }
  }

/** How the databases of a copy are reached. */
export interface RowsOptions {
  /** Settings of SQLite connections, whatever their file. */
  readonly sqlite: SqliteOptions
  /** Settings of PostgreSQL connections, whatever their server: the schema and TLS. */
  readonly postgres: Pick<PostgresSettings, 'schema' | 'ssl'>
  /** Milliseconds to wait for a connection, and for a process that prepares the same database. */
  readonly wait: number
}

const isUrl = (address: string): boolean => /^postgres(?:ql)?:\/\//.test(address)

/** An address as it may be shown and noted. @throws ConfigError for a URL that cannot be read */
function shownAddress(address: string, schema: string): string {
  if (!isUrl(address)) return resolve(address)
  if (!URL.canParse(address))
    throw new ConfigError('The URL of a database cannot be read. Encode special characters of its password: %40 for @')
  const { host, pathname } = new URL(address)
  return `postgres://${host}${pathname}${schema === 'public' ? '' : ` (${schema})`}`
}

const poolFor = (url: string, { postgres, wait }: RowsOptions): pg.Pool =>
  openPool(
    { ...postgres, url, host: '', port: 0, name: '', user: '', password: '', pool: { min: 0, max: 2 }, connectionTimeout: wait },
    { max: 2, pipelined: false, failed: () => {} },
  )

/** A connection of its own, and what closes it. @throws ConfigError with a sentence if the server cannot be reached */
async function connect(address: string, options: RowsOptions, prepare: (pool: pg.Pool) => Promise<unknown>) {
  const pool = poolFor(address, options)
  try {
    await prepare(pool)
    const client = await pool.connect()
    client.on('error', () => {})
    const close = async () => {
      client.release()
      await pool.end()
    }
    return { client, close }
  } catch (error) {
    await pool.end()
    if (error instanceof ConfigError) throw error
    throw new ConfigError(`${shownAddress(address, options.postgres.schema)} cannot be used: ${(error as Error).message}`)
  }
}

/** Opens a database that is copied: a SQLite file or the URL of a PostgreSQL database. @throws ConfigError if it is not there */
export async function openRowSource(address: string, options: RowsOptions): Promise<RowSource> {
  const name = shownAddress(address, options.postgres.schema)
  if (isUrl(address)) {
    const { client, close } = await connect(address, options, (pool) => checkSchema(pool, options.postgres.schema))
    return postgresSource(client, name, close)
  }
  if (!existsSync(address)) throw new ConfigError(`There is no database at ${name}`)
  const database = await opened(
    name,
    () => openSqliteReader({ ...options.sqlite, filename: resolve(address) }),
    (each) => each.exec('begin'),
  )
  return sqliteSource(database, name, () => void database.close())
}

/** Opens a SQLite database and prepares it. @throws ConfigError that names the file if it cannot be used */
async function opened(name: string, open: () => Connection, prepare: (database: Connection) => unknown): Promise<Connection> {
  let database: Connection | null = null
  try {
    database = open()
    await prepare(database)
    return database
  } catch (error) {
    database?.close()
    const { code, message } = error as { readonly code?: unknown; readonly message: string }
    throw String(code).startsWith('SQLITE_') ? new ConfigError(`The database ${name} cannot be used: ${message}`) : error
  }
}

/** Opens a database that is copied into; it gets the tables of the model that it lacks. @throws ConfigError if it cannot be prepared */
export async function openRowTarget(address: string, model: Model, options: RowsOptions): Promise<RowTarget> {
  const name = shownAddress(address, options.postgres.schema)
  const { wait } = options
  if (isUrl(address)) {
    const { schema } = options.postgres
    const prepare = (pool: pg.Pool) => prepareDatabase(pool, model, { schema, wait, sessions: true, fill: async () => {} })
    const { client, close } = await connect(address, options, prepare)
    return postgresTarget(client, name, 'batches', close)
  }
  const prepare = (database: Connection) => createEmptyTables(database, model, wait)
  const database = await opened(name, () => openSqlite({ ...options.sqlite, filename: resolve(address) }), prepare)
  return sqliteTarget(database, name, () => void database.close())
}
