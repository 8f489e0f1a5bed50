// The catalog of a SQLite database: tables, damage, differences from the model, and scans of whole tables.

import type Database from 'better-sqlite3'
import { sql } from 'kysely'
import type { Model } from '../../model/schema/types.js'
import { compareWithModel, type SchemaMismatches } from '../../model/tables/compare-database.js'
import type { DeclaredColumn, Inspection, MainConnection, TableScan } from '../database.js'
import type { Statement } from '../plan.js'
import { declaredType } from './create-tables.js'

/** Looks at the tables of a database, its pages and its foreign keys. */
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

/** Families of declared types: within one, SQLite keeps a value as it is. */
const families: readonly (readonly string[])[] = [
  ['varchar', 'text', 'char', 'clob'],
  ['integer', 'int', 'bigint', 'float', 'real', 'double', 'decimal', 'numeric'],
  ['datetime', 'timestamp'],
  ['json', 'jsonb'],
]

/** Looks at the schema of the database only, not at rows. */
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

/** The tables of a generated statement, by alias. */
const tablesOf = (sql: string): ReadonlyMap<string, string> =>
  new Map([...sql.matchAll(/\b(?:from|join) "([^"]+)" as "([^"]+)"/g)].map(([, table, alias]) => [alias!, table!]))

/** Finds the tables that are looked through row by row. An index that is read in the order of a list is none of them. */
export function findTableScans(database: Database.Database, { sql, parameters }: Statement): readonly TableScan[] {
  const tables = tablesOf(sql)
  const steps = database.prepare(`explain query plan ${sql}`).all(parameters.map(() => null)) as readonly { readonly detail: string }[]
  const scanned = steps.flatMap(({ detail }) => tables.get(/^SCAN (\S+)$/.exec(detail)?.[1] ?? '') ?? [])
  return [...new Set(scanned)].map((table) => ({ table, rows: rowsOf(database, table) }))
}

/** The rows of a table, or more: its highest row id, which costs nothing to find. */
const rowsOf = (database: Database.Database, table: string): number =>
  Number(database.prepare(`select max(rowid) from "${table}"`).pluck().get() ?? 0)
