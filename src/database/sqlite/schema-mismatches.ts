// Where a database on SQLite and the model contradict each other.
import type { Database } from 'better-sqlite3'
import type { Model } from '../../model/schema/types.js'
import type { SchemaMismatches } from '../../model/tables/mismatches.js'
import { compareWithModel } from '../../model/tables/mismatches.js'
import type { DeclaredColumn } from '../database.js'
import { declaredType } from './create-tables.js'

/** Families of declared types: within one, SQLite keeps a value as it is. */
const families: readonly (readonly string[])[] = [
  ['varchar', 'text', 'char', 'clob'],
  ['integer', 'int', 'bigint', 'float', 'real', 'double', 'decimal', 'numeric'],
  ['datetime', 'timestamp'],
  ['json', 'jsonb'],
]

/** Looks at the schema of the database only, not at rows. */
export function findSchemaMismatches(database: Database, model: Model): SchemaMismatches {
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

/** How columns are declared. */
export function declaredColumnsOf(database: Database): DeclaredColumn {
  const rows = database
    .prepare(
      "select m.name, c.name, c.type from sqlite_schema m, pragma_table_info(m.name) c where m.type = 'table' and m.sql not like 'create virtual%'",
    )
    .raw()
    .all() as readonly (readonly [string, string, string])[]
  const types = new Map(rows.map(([table, column, type]) => [`${table}.${column}`, type]))
  return (table, column) => types.get(`${table}.${column}`) ?? null
}
