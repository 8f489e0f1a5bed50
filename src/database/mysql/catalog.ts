// What information_schema says of the current database: its tables, their columns, and the indexes.
import type { Client } from './client.js'

/** What executes statements: a connection, or whichever of a pool is free. */
export type Queryable = Pick<Client, 'query'>

/** A column as it is declared: `varchar(255)`, `int(10) unsigned`. */
export interface CatalogColumn {
  readonly name: string
  readonly type: string
}

/** The tables of the current database. */
export interface Catalog {
  /** Columns by table, views included. */
  readonly tables: ReadonlyMap<string, readonly CatalogColumn[]>
  /** Tables that are no views. */
  readonly ownTables: readonly string[]
  /** The names of each table's indexes. */
  readonly indexes: ReadonlyMap<string, ReadonlySet<string>>
}

/** Reads the catalog. */
export async function readCatalog(database: Queryable): Promise<Catalog> {
  const { rows: columns } = await database.query(
    `select c.table_name, t.table_type, c.column_name, c.column_type from information_schema.columns c
     join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
     where c.table_schema = database() order by c.table_name, c.ordinal_position`,
  )
  const { rows: indexes } = await database.query(
    'select distinct table_name, index_name from information_schema.statistics where table_schema = database()',
  )
  const tables = new Map<string, CatalogColumn[]>()
  const own = new Set<string>()
  for (const [table, kind, name, type] of columns as readonly (readonly string[])[]) {
    const known = tables.get(table!) ?? []
    tables.set(table!, known)
    known.push({ name: name!, type: type! })
    if (kind === 'BASE TABLE') own.add(table!)
  }
  const named = new Map<string, Set<string>>()
  for (const [table, name] of indexes as readonly (readonly string[])[]) {
    named.set(table!, (named.get(table!) ?? new Set()).add(name!))
  }
  return { tables, ownTables: [...own], indexes: named }
}
