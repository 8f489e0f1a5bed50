// What information_schema says of the current database: its tables, their columns, and the indexes.
import type { Client } from './client.js'

/** What executes statements: a connection, or whichever of a pool is free. */
export type MysqlQueryable = Pick<Client, 'query'>

/** A column as it is declared: `varchar(255)`, `int(10) unsigned`. */
export interface MysqlCatalogColumn {
  readonly name: string
  readonly type: string
}

/** The tables of the current database. */
export interface MysqlCatalog {
  /** Columns by table, views included. */
  readonly tables: ReadonlyMap<string, readonly MysqlCatalogColumn[]>
  /** Tables that are no views. */
  readonly ownTables: readonly string[]
  /** The names of each table's indexes. */
  readonly indexes: ReadonlyMap<string, ReadonlySet<string>>
}

/** Reads the catalog. Nothing is joined: the servers open every table for each row of a join of these views. */
export async function readCatalog(database: MysqlQueryable): Promise<MysqlCatalog> {
  const textsOf = async (text: string) => (await database.query(text)).rows as readonly (readonly string[])[]
  const own = await textsOf(
    "select table_name from information_schema.tables where table_schema = database() and table_type = 'BASE TABLE' order by table_name",
  )
  const columns = await textsOf(
    `select table_name, column_name, column_type from information_schema.columns
     where table_schema = database() order by table_name, ordinal_position`,
  )
  const indexes = await textsOf('select distinct table_name, index_name from information_schema.statistics where table_schema = database()')
  const tables = new Map<string, MysqlCatalogColumn[]>()
  for (const [table, name, type] of columns) tables.set(table!, [...(tables.get(table!) ?? []), { name: name!, type: type! }])
  const named = new Map<string, Set<string>>()
  for (const [table, name] of indexes) named.set(table!, (named.get(table!) ?? new Set()).add(name!))
  return { tables, ownTables: own.flat(), indexes: named }
}
