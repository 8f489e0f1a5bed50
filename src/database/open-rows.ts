// Opens databases for copies: of all rows from one to another, and of the first rows into a new one.
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type pg from 'pg'
import { ConfigError } from '../errors/errors.js'
import { newDocumentId } from '../model/document-id.js'
import type { Model } from '../model/types.js'
import { copyFirstRows } from './copy.js'
import type { FillDatabase } from './database.js'
import { checkSchema } from './postgres/catalog.js'
import { openPool, type PostgresSettings } from './postgres/connection.js'
import { prepareDatabase } from './postgres/prepare-database.js'
import { postgresSource, postgresTarget } from './postgres/rows.js'
import type { RowSource, RowTarget } from './rows.js'
import { openSqlite, openSqliteReader, type SqliteOptions } from './sqlite/connection.js'
import { firstContents } from './sqlite/first-contents.js'
import { sqliteSource, sqliteTarget } from './sqlite/rows.js'
import { createEmptyTables } from './sqlite/sync-schema.js'

/** What fills a new PostgreSQL database inside the transaction that makes its tables. `locale`: the code of the default locale. */
export const firstRowsOfPostgres =
  (model: Model, locale: string, fill: FillDatabase) =>
  async (client: pg.ClientBase): Promise<void> => {
    const memory = await firstContents(model, { now: new Date(), newDocumentId, locale }, fill)
    try {
      const close = async () => {}
      await copyFirstRows(
        sqliteSource(memory, 'the first content', () => {}),
        postgresTarget(client, 'the new database', 'callers', close),
      )
    } finally {
      memory.close()
    }
  }

/** How databases of a copy are reached. */
export interface RowsOptions {
  /** Settings of SQLite connections, whatever their file. */
  readonly sqlite: SqliteOptions
  /** The schema of PostgreSQL's tables. */
  readonly schema: string
  /** Milliseconds to wait for a connection, and for a process that prepares the same database. */
  readonly wait: number
}

const isUrl = (address: string): boolean => /^postgres(?:ql)?:\/\//.test(address)

/** An address as it may be shown and noted. */
function shownAddress(address: string, schema: string): string {
  if (!isUrl(address)) return resolve(address)
  const { host, pathname } = new URL(address)
  return `postgres://${host}${pathname}${schema === 'public' ? '' : ` (${schema})`}`
}

function poolFor(address: string, { schema, wait }: RowsOptions): pg.Pool {
  const settings: PostgresSettings = {
    ...{ url: address, host: '', port: 0, name: '', user: '', password: '', schema, ssl: false, pool: { min: 0, max: 2 } },
    connectionTimeout: wait,
  }
  return openPool(settings, { max: 2, pipelined: false, failed: () => {} })
}

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
    throw new ConfigError(`${shownAddress(address, options.schema)} cannot be used: ${(error as Error).message}`)
  }
}

/** Opens a database that is copied: a SQLite file or the URL of a PostgreSQL database. @throws ConfigError if it is not there */
export async function openRowSource(address: string, options: RowsOptions): Promise<RowSource> {
  const name = shownAddress(address, options.schema)
  if (isUrl(address)) {
    const { client, close } = await connect(address, options, (pool) => checkSchema(pool, options.schema))
    return postgresSource(client, name, close)
  }
  if (!existsSync(address)) throw new ConfigError(`There is no database at ${name}`)
  const database = openSqliteReader({ ...options.sqlite, filename: resolve(address) })
  database.exec('begin')
  return sqliteSource(database, name, () => void database.close())
}

/** Opens a database that is copied into; it gets the tables of the model that it lacks. @throws ConfigError if it cannot be prepared */
export async function openRowTarget(address: string, model: Model, options: RowsOptions): Promise<RowTarget> {
  const name = shownAddress(address, options.schema)
  if (isUrl(address)) {
    const { schema, wait } = options
    const prepare = (pool: pg.Pool) => prepareDatabase(pool, model, { schema, wait, sessions: true, fill: async () => {} })
    const { client, close } = await connect(address, options, prepare)
    return postgresTarget(client, name, 'batches', close)
  }
  const database = openSqlite({ ...options.sqlite, filename: resolve(address) })
  try {
    await createEmptyTables(database, model, options.wait)
    return sqliteTarget(database, name, () => void database.close())
  } catch (error) {
    database.close()
    throw error
  }
}
