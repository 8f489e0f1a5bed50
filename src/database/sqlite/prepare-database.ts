// Prepares a database for the model in one transaction: creates missing tables and columns and, in a new database, the first rows. Strapi's
// tables are never dropped or rewritten. If several processes start, one prepares and the others wait.

import type { Database } from 'better-sqlite3'
import Connection from 'better-sqlite3'
import { sql } from 'kysely'
import type { Model } from '../../model/schema/types.js'
import { findMissingSchema, getMissingNames, isComplete, type MissingSchema, type Prepared } from '../../model/tables/compare-database.js'
import { quoted } from '../../model/tables/table.js'
import { type FillDatabase, serviceTransaction, type WriteDatabase } from '../database.js'
import { retrySchemaChanges } from './connection.js'
import { createIndex, createOctavoTables, createStatements, createTables, declaredType, lacksOctavoTables } from './create-tables.js'
import { indexStatement } from './indexes.js'
import { type InitialRows, insertInitialRows } from './initial-rows.js'

interface Preparation {
  /** The first rows of a new database; null: none. */
  readonly first: InitialRows | null
  /** Milliseconds to wait for another process preparing the same database. */
  readonly wait: number
  /** True if this service issues sessions: their table then gets the columns missing from older versions of Strapi. */
  readonly sessions: boolean
  /** Fills a new database, within the transaction that creates its tables. */
  fill(): Promise<void>
}

/** Prepares the database atomically. */
export async function prepareDatabase(database: Database, model: Model, preparation: Preparation): Promise<Prepared> {
  const look = () => lackingIn(database, model, preparation.sessions)
  if (retrySchemaChanges(() => !lacksOwnTables(database) && isComplete(look()))) return { isNew: false, added: [] }
  const { first, wait, fill } = preparation
  const usual = Number(database.pragma('busy_timeout', { simple: true }))
  database.pragma(`busy_timeout = ${wait}`)
  try {
    database.exec('begin immediate')
    try {
      // Another process may have prepared it in the meantime.
      const lacking = look()
      createOctavoTables(database)
      if (lacking.isNew) {
        createTables(database, lacking.tables)
        if (first !== null) insertInitialRows(database, model, first)
        await fill()
      } else for (const { table, statement } of additions(lacking)) aboutTable(table, () => database.exec(statement))
      for (const index of lacking.indexes) aboutTable(index.table, () => database.exec(indexStatement(index)))
      database.exec('commit')
      return { isNew: lacking.isNew, added: lacking.isNew ? [] : getMissingNames(lacking) }
    } catch (error) {
      if (database.inTransaction) database.exec('rollback')
      throw error
    }
  } finally {
    database.pragma(`busy_timeout = ${usual}`)
  }
}

/** Creates missing tables without rows. `wait` as in `Preparation`. */
export async function createEmptyTables(database: Database, model: Model, wait: number): Promise<void> {
  await prepareDatabase(database, model, { first: null, wait, sessions: true, fill: async () => {} })
}

/** True if the database lacks the tables of the first start. */
export function isUnprepared(database: Database): boolean {
  return database.prepare("select 1 from sqlite_schema where name = 'strapi_core_store_settings'").get() === undefined
}

/** All names in lower case: SQLite ignores case. */
const namesIn = (database: Database): ReadonlySet<string> =>
  new Set(database.prepare("select lower(name) from sqlite_schema where type in ('table', 'view', 'index')").pluck().all() as string[])

const lacksOwnTables = (database: Database): boolean => lacksOctavoTables(namesIn(database))

/** Finds missing tables, columns and indexes. `sessions` as in `Preparation`. */
function lackingIn(database: Database, model: Model, sessions: boolean): MissingSchema {
  const present = namesIn(database)
  const columns = database.prepare('select name from pragma_table_info(?)').pluck()
  const columnsOf = new Map<string, ReadonlySet<string>>()
  const hasColumn = (table: string, column: string): boolean => {
    const known = columnsOf.get(table) ?? new Set(columns.all(table) as string[])
    columnsOf.set(table, known)
    return known.has(column)
  }
  return findMissingSchema(
    model,
    { isNew: isUnprepared(database), has: (name) => present.has(name.toLowerCase()), hasColumn, schema: null },
    sessions,
  )
}

/** Statements that add missing tables and columns with their indexes, and the table of each. */
const additions = ({ tables, columns }: MissingSchema): readonly { readonly table: string; readonly statement: string }[] => [
  ...tables.flatMap((table) => createStatements(table).map((statement) => ({ table: table.name, statement }))),
  ...columns.flatMap(({ table, column, indexes }) =>
    [
      `alter table ${quoted(table)} add column ${quoted(column.name)} ${declaredType(column.type)}`,
      ...indexes.map((index) => createIndex(table, index)),
    ].map((statement) => ({ table, statement })),
  ),
]

const additionStatements = (lacking: MissingSchema): readonly string[] => additions(lacking).map(({ statement }) => statement)

/** Adds the table's name to an error: SQLite's message lacks it. */
function aboutTable(table: string, work: () => void): void {
  try {
    work()
  } catch (error) {
    if (error instanceof Error) error.message = `the table ${table}: ${error.message}`
    throw error
  }
}

/** Adds missing tables, columns and indexes for a model, in a transaction of the writer thread, queued with the other writes. */
export async function fitModel(connection: Database, writer: WriteDatabase, model: Model, sessions: boolean): Promise<void> {
  const look = (): MissingSchema => retrySchemaChanges(() => lackingIn(connection, model, sessions))
  const lacking = look()
  if (isComplete(lacking)) return
  try {
    await serviceTransaction(writer, async (transaction) => {
      for (const statement of [...additionStatements(lacking), ...lacking.indexes.map(indexStatement)])
        await transaction.run(sql.raw(statement))
    })
  } catch (error) {
    // Another process may have added the same.
    if (!isComplete(look())) throw error
  }
}

/** Creates an in-memory database with Strapi's first rows and those of `fill`. The caller closes it. */
export async function firstContents(model: Model, first: InitialRows, fill: FillDatabase): Promise<Database> {
  const database = new Connection(':memory:')
  try {
    database.pragma('foreign_keys = on')
    await prepareDatabase(database, model, { first, wait: 0, sessions: true, fill: () => fill(database, first.now) })
    return database
  } catch (error) {
    database.close()
    throw error
  }
}
