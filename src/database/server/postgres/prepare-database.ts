// Prepares a PostgreSQL database for the model in one transaction: creates missing tables and columns and, in a new database, the first
// rows. Strapi's tables are never dropped or rewritten. If several processes start, one prepares and the others wait.
import type pg from 'pg'
import { ConfigError } from '../../../foundation/errors/errors.js'
import type { Model } from '../../../model/schema/types.js'
import {
  findMissingSchema,
  getMissingNames,
  isPrepared,
  type MissingServerSchema,
  type Prepared,
} from '../../../model/tables/compare-database.js'
import { hasFormerTables, octavoNames, replaceFormerTables } from '../../../model/tables/octavo-tables.js'
import { quoted, storedName } from '../../../model/tables/table.js'
import type { ServerPreparation } from '../kind.js'
import { type Catalog, checkSchema, type Queryable, readCatalog } from './catalog.js'
import { commitTable, createIndex, createOctavoStatements, createStatements, declaredType, epochTable, turnTable } from './create-tables.js'
import { indexStatement, isIndexable } from './indexes.js'
import { postgresTarget, withModelNames } from './rows.js'

export interface PostgresPreparation extends ServerPreparation {
  /** The schema of the tables. */
  readonly schema: string
}

/** Advisory lock for preparing a database or altering its tables: the same number in every version. */
export const preparing = 7_082_100_001

/** Exists in every prepared database. */
const firstTable = 'strapi_core_store_settings'

/** True if the current schema lacks the tables of the first start. */
export async function isUnprepared(database: Queryable): Promise<boolean> {
  const { rows } = await database.query<{ readonly isNew: number }>(
    `select not exists (select from pg_tables where schemaname = current_schema() and tablename = $1) as "isNew"`,
    [firstTable],
  )
  return rows[0]!.isNew === 1
}

/**
 * Prepares the database atomically.
 * @throws ConfigError if the schema does not exist, the user lacks grants, or another process holds the lock for longer than `wait`
 */
export async function prepareDatabase(pool: pg.Pool, model: Model, preparation: PostgresPreparation): Promise<Prepared> {
  await checkSchema(pool, preparation.schema)
  if (isPrepared(lackingIn(await readCatalog(pool), model, preparation))) return { isNew: false, added: [] }
  return inTransaction(pool, preparation, async (client) => {
    // Another process may have prepared it in the meantime.
    const catalog = await readCatalog(client)
    const lacking = lackingIn(catalog, model, preparation)
    if (isPrepared(lacking)) return { isNew: false, added: [] }
    const { isNew, tables, columns, indexes } = lacking
    await client.query(
      [
        ...createOctavoStatements(),
        ...replaceFormerTables((name) => catalog.tables.has(name)),
        ...createStatements(tables),
        ...columns.flatMap(({ table, column, indexes: ofLayout }) => [
          `alter table ${quoted(table)} add column if not exists ${quoted(column.name)} ${declaredType(column.type)}`,
          ...ofLayout.map((index) => createIndex(table, index)),
        ]),
        ...indexes.map((index) => indexStatement(index, { nullsFirst: false, concurrently: false })),
      ].join(';\n'),
    )
    if (isNew)
      await preparation.fill(
        withModelNames(
          postgresTarget(client, 'the new database', 'callers', async () => {}),
          model,
        ),
      )
    return { isNew, added: isNew ? [] : getMissingNames(lacking) }
  })
}

function lackingIn(catalog: Catalog, model: Model, { sessions, schema }: PostgresPreparation): MissingServerSchema {
  const has = (name: string): boolean => catalog.tables.has(storedName(name)) || catalog.indexes.has(storedName(name))
  const columns = new Map([...catalog.tables].map(([table, all]) => [table, new Set(all.map(({ name }) => name))]))
  const hasColumn = (table: string, column: string): boolean => columns.get(storedName(table))?.has(storedName(column)) === true
  const isNew = !catalog.tables.has(firstTable)
  const lacking = findMissingSchema(model, { isNew, has, hasColumn, schema }, sessions)
  const made = new Set(lacking.tables.map(({ name }) => name))
  return {
    ...lacking,
    indexes: lacking.indexes.filter((index) => made.has(index.table) || isIndexable(catalog, index)),
    ownTables: [...octavoNames, turnTable, epochTable, commitTable].some((name) => !has(name)) || hasFormerTables(has),
  }
}

/** Runs `work` in a transaction under the lock. All settings are local to it, since a pooler may share the connection. */
async function inTransaction<Result>(
  pool: pg.Pool,
  { wait, schema }: PostgresPreparation,
  work: (client: pg.PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect()
  const lost = () => {}
  client.on('error', lost)
  let broken: Error | undefined
  try {
    await client.query('begin isolation level read committed read write')
    await client.query(
      `set local lock_timeout = ${Math.ceil(wait)}; set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0`,
    )
    await client.query('select pg_advisory_xact_lock($1)', [preparing])
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => {
      broken = failure
    })
    throw preparationError(error, wait, schema)
  } finally {
    client.off('error', lost)
    client.release(broken)
  }
}

/** Explains an error that the operator can resolve. */
export function preparationError(error: unknown, wait: number, schema: string): unknown {
  const { code, message } = error as { readonly code?: unknown; readonly message: string }
  switch (code) {
    case '55P03':
      return new ConfigError(
        `The tables of the schema "${schema}" were locked for ${Math.round(wait / 1000)} seconds. Another process may be preparing them; start again later`,
      )
    case '42501':
      return new ConfigError(
        `The database user may not create missing objects in the schema "${schema}" (${message}). Grant it: GRANT CREATE ON SCHEMA "${schema}" TO …; tables can only be changed by their owner`,
      )
    case '25006':
      return new ConfigError(
        `The database can only be read (${message}), and something is missing in its schema "${schema}". Connect to the primary server`,
      )
    default:
      return error
  }
}
