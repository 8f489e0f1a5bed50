// What a database lacks of the tables and columns that a model needs.
import type { Model } from '../schema/types.js'
import { adminTables, keptTables } from './admin-tables.js'
import { type FoundTables, refuseForeign } from './foreign-tables.js'
import { accountIndexes, historyTable, type OwnIndex } from './own-indexes.js'
import type { Column, Index, Table } from './table.js'
import { describeTables } from './tables.js'

/** What was done: whether the database is new, and what an existing one lacked (`articles`, `articles.subtitle`). */
export interface Prepared {
  readonly isNew: boolean
  readonly added: readonly string[]
}

/** What is in a database. */
export interface Present extends FoundTables {
  /** False once the database has the tables that a start makes first. */
  readonly isNew: boolean
  /** Whether a table or an index has this name. */
  has(name: string): boolean
}

/** A column that a table lacks, with the indexes of Strapi's layout that are possible once it is there. */
export interface LackingColumn {
  readonly table: string
  readonly column: Column
  readonly indexes: readonly Index[]
}

/** What a database lacks of Strapi's layout, and of the indexes that every service needs. */
export interface Lacking {
  readonly isNew: boolean
  readonly tables: readonly Table[]
  readonly columns: readonly LackingColumn[]
  /** Those by which users and sessions are found: a few hundred milliseconds, once, where there are hundreds of thousands. */
  readonly indexes: readonly OwnIndex[]
}

/**
 * Compares a database with the model. `sessions`: sessions are issued here, so their table gets columns of newer Strapi versions.
 * @throws ConfigError if it is not a database of the project
 */
export function findLacking(model: Model, present: Present, sessions: boolean): Lacking {
  const { isNew } = present
  refuseForeign(model, present)
  // What only Strapi's panel uses stays as the Strapi that made it left it.
  const panel = isNew ? new Set<string>() : adminTables(model)
  const kept = isNew ? panel : keptTables(model, sessions)
  const tables = describeTables(model).filter(({ name }) => !panel.has(name))
  return {
    isNew,
    tables: tables.filter(({ name }) => !present.has(name)),
    columns: tables.flatMap((table) => (!present.has(table.name) || kept.has(table.name) ? [] : lackingColumns(table, present))),
    indexes: accountIndexes(model).filter(
      ({ name, table }) => !present.has(name) && (table === historyTable ? isNew || present.has(table) : !kept.has(table)),
    ),
  }
}

function lackingColumns({ name: table, columns, indexes }: Table, present: Present): readonly LackingColumn[] {
  const has = (name: string): boolean => present.hasColumn(table, name)
  const lacking = indexes.filter(({ name }) => !present.has(name))
  const lastOf = (index: Index) => index.columns.filter((name) => !has(name)).at(-1)
  return columns
    .filter(({ name }) => !has(name))
    .map((column) => ({ table, column, indexes: lacking.filter((index) => lastOf(index) === column.name) }))
}

/** Whether nothing has to be done. */
export const isComplete = ({ isNew, tables, columns, indexes }: Lacking): boolean =>
  !isNew && tables.length + columns.length + indexes.length === 0

/** The names of the tables and columns: `articles`, `articles.subtitle`. */
export const namesOf = ({ tables, columns }: Lacking): readonly string[] => [
  ...tables.map(({ name }) => name),
  ...columns.map(({ table, column }) => `${table}.${column.name}`),
]

/** The same with tables of our own that a database server lacks. */
export interface LackingWithOwn extends Lacking {
  readonly ownTables: boolean
}

/** Whether nothing has to be done, for our own tables either. */
export const isPrepared = (lacking: LackingWithOwn): boolean => !lacking.ownTables && isComplete(lacking)
