// Makes a database fit for the model: a new one gets every table and the rows it starts with, an existing one only what it
// lacks. Nothing is ever dropped or rewritten. One transaction does it all, so that it is there as a whole or not at all, and
// of several processes that start together one does it while the others wait.
import type { Database } from 'better-sqlite3'
import type { Model } from '../../model/types.js'
import { adminTables, sessionTable } from '../schema/admin-tables.js'
import { createOctavoTables, lacksOctavoTables } from '../schema/octavo-tables.js'
import { createStatements, quoted, type Table } from '../schema/table.js'
import { createTables, describeTables } from '../schema/tables.js'
import { throughSchemaChanges } from './connection.js'
import { accountIndexes, type OwnIndex } from './indexes.js'
import type { InitialRows } from './initial-rows.js'
import { insertInitialRows } from './initial-rows.js'

/** What was done: whether the database is new, and what an existing one lacked (`articles`, `articles.subtitle`). */
export interface Prepared {
  readonly isNew: boolean
  readonly added: readonly string[]
}

export interface Preparation {
  readonly first: InitialRows
  /** Milliseconds to wait for another process that prepares the same database. */
  readonly wait: number
  /** Sessions are issued here, so their table gets the columns that an older Strapi did not make. */
  readonly sessions: boolean
  /** Fills a new database, inside the transaction that makes its tables. */
  fill(): Promise<void>
}

interface Lacking {
  readonly isNew: boolean
  readonly ownTables: boolean
  readonly tables: readonly Table[]
  readonly columns: readonly { readonly table: string; readonly name: string; readonly type: string }[]
  /** Those by which users and sessions are found: a few hundred milliseconds, once, where there are hundreds of thousands. */
  readonly indexes: readonly OwnIndex[]
}

/** Prepares the database behind `database`; a failure, or the end of the process, leaves it as it was. */
export async function prepareDatabase(database: Database, model: Model, preparation: Preparation): Promise<Prepared> {
  const look = () => lackingIn(database, model, preparation)
  if (isComplete(throughSchemaChanges(look))) return { isNew: false, added: [] }
  const { first, wait, fill } = preparation
  const usual = Number(database.pragma('busy_timeout', { simple: true }))
  database.pragma(`busy_timeout = ${wait}`)
  try {
    database.exec('begin immediate')
    try {
      // Another process may have done it meanwhile.
      const lacking = look()
      createOctavoTables(database)
      if (lacking.isNew) {
        createTables(database, lacking.tables)
        insertInitialRows(database, model, first)
        await fill()
      } else add(database, lacking)
      for (const { sql } of lacking.indexes) database.exec(sql)
      database.exec('commit')
      return { isNew: lacking.isNew, added: lacking.isNew ? [] : namesOf(lacking) }
    } catch (error) {
      if (database.inTransaction) database.exec('rollback')
      throw error
    }
  } finally {
    database.pragma(`busy_timeout = ${usual}`)
  }
}

/** Whether the database has none of the tables that a start makes first. */
export function isUnprepared(database: Database): boolean {
  return database.prepare("select 1 from sqlite_schema where name = 'strapi_core_store_settings'").get() === undefined
}

const isComplete = ({ isNew, ownTables, tables, columns, indexes }: Lacking): boolean =>
  !isNew && !ownTables && [...tables, ...columns, ...indexes].length === 0

function lackingIn(database: Database, model: Model, { sessions }: Preparation): Lacking {
  const names = database.prepare("select name from sqlite_schema where type in ('table', 'index')").pluck().all() as string[]
  const present = new Set(names)
  const isNew = isUnprepared(database)
  // What only Strapi's panel uses stays as the Strapi that made it left it.
  const panel = isNew ? new Set<string>() : adminTables(model)
  const kept = sessions ? panel : new Set([...panel, sessionTable])
  const tables = describeTables(model).filter(({ name }) => !panel.has(name))
  const columnsOf = database.prepare('select name from pragma_table_info(?)').pluck()
  return {
    isNew,
    ownTables: lacksOctavoTables(present),
    indexes: accountIndexes().filter(({ name, table }) => !present.has(name) && !(kept.has(table) && !isNew)),
    tables: tables.filter(({ name }) => !present.has(name)),
    columns: tables.flatMap(({ name: table, columns }) => {
      if (!present.has(table) || kept.has(table)) return []
      const there = new Set(columnsOf.all(table))
      return columns.filter(({ name }) => !there.has(name)).map(({ name, type }) => ({ table, name, type }))
    }),
  }
}

function add(database: Database, { tables, columns }: Lacking): void {
  for (const table of tables) for (const statement of createStatements(table)) database.exec(statement)
  for (const { table, name, type } of columns) database.exec(`alter table ${quoted(table)} add column ${quoted(name)} ${type}`)
}

const namesOf = ({ tables, columns }: Lacking): readonly string[] => [
  ...tables.map(({ name }) => name),
  ...columns.map(({ table, name }) => `${table}.${name}`),
]
