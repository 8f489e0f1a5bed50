// The catalog of a SQLite database: tables, damage, schema drift and full table scans.

import type Database from 'better-sqlite3'
import { sql } from 'kysely'
import type { Model } from '../../model/schema/types.js'
import { compareWithModel, type SchemaMismatches } from '../../model/tables/compare-database.js'
import type { DeclaredColumn, Inspection, MainConnection, TableScan } from '../database.js'
import type { Statement } from '../plan.js'
import { declaredType } from './create-tables.js'

/** Inspects the tables, pages and foreign keys of a database. */
export const inspectSqlite = (main: MainConnection): Inspection => ({
  tables: async () => {
    const rows = await main.rows<{ readonly name: string }>(sql`select name from sqlite_master where type in ('table', 'view')`)
    const names = rows.map(({ name }) => name)
    const known = new Set(names.map((name) => name.toLowerCase()))
    return { has: (table) => known.has(table.toLowerCase()), names }
  },
  findDamage: async () => {
    const rows = await main.rows<{ readonly quick_check: string }>(sql`select * from pragma_quick_check`)
    return rows.map(({ quick_check }) => quick_check).filter((line) => line !== 'ok')
  },
  danglingRows: async () => {
    const rows = await main.rows<{ readonly table: string; readonly rowid: number | null; readonly parent: string }>(
      sql`select * from pragma_foreign_key_check`,
    )
    return rows.map(({ table, rowid, parent }) => `${table} row ${rowid} references a missing row of ${parent}`)
  },
})

/** Declared types grouped by affinity: within a group, SQLite stores a value unchanged. */
const families: readonly (readonly string[])[] = [
  ['varchar', 'text', 'char', 'clob'],
  ['integer', 'int', 'bigint', 'float', 'real', 'double', 'decimal', 'numeric'],
  ['datetime', 'timestamp'],
  ['json', 'jsonb'],
]

/** Compares the schema with the model, without reading rows. */
export function findSchemaMismatches(database: Database.Database, model: Model): SchemaMismatches {
  const names = database.prepare("select name from sqlite_schema where type = 'table' and sql not like 'create virtual%'").pluck()
  const columnsOf = database.prepare('select name, type from pragma_table_info(?)')
  return compareWithModel(model, {
    tables: names.all() as string[],
    columnsOf: (table) => columnsOf.all(table) as { readonly name: string; readonly type: string }[],
    storedName: (name) => name,
    declaredType,
    families,
  })
}

export function readDeclaredColumns(database: Database.Database): DeclaredColumn {
  const rows = database
    .prepare(
      "select m.name, c.name, c.type from sqlite_schema m, pragma_table_info(m.name) c where m.type = 'table' and m.sql not like 'create virtual%'",
    )
    .raw()
    .all() as readonly (readonly [string, string, string])[]
  const types = new Map(rows.map(([table, column, type]) => [`${table}.${column}`, type]))
  return (table, column) => types.get(`${table}.${column}`) ?? null
}

/** Table names by alias. */
const tablesOf = (sql: string): ReadonlyMap<string, string> =>
  new Map([...sql.matchAll(/\b(?:from|join) "([^"]+)" as "([^"]+)"/g)].map(([, table, alias]) => [alias!, table!]))

/** Finds full table scans. Scanning an index in list order does not count. */
export function findTableScans(database: Database.Database, { sql, parameters }: Statement): readonly TableScan[] {
  const tables = tablesOf(sql)
  const steps = database.prepare(`explain query plan ${sql}`).all(parameters.map(() => null)) as readonly { readonly detail: string }[]
  const scanned = steps.flatMap(({ detail }) => tables.get(/^SCAN (\S+)$/.exec(detail)?.[1] ?? '') ?? [])
  return [...new Set(scanned)].map((table) => ({ table, rows: rowsOf(database, table) }))
}

/** An upper estimate of the row count: the highest row id, which costs nothing to look up. */
const rowsOf = (database: Database.Database, table: string): number =>
  Number(database.prepare(`select max(rowid) from "${table}"`).pluck().get() ?? 0)
