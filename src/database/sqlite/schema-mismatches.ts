// Where a database and the model contradict each other: columns of another type, columns and tables that nothing in the model has.
import type { Database } from 'better-sqlite3'
import type { Model } from '../../model/types.js'
import type { SchemaMismatches } from '../database.js'
import { adminTables, sessionTable } from '../schema/admin-tables.js'
import { describeTables } from '../schema/tables.js'

/** Families of declared types: within one, SQLite keeps a value as it is. */
const families: readonly (readonly string[])[] = [
  ['varchar', 'text', 'char', 'clob'],
  ['integer', 'int', 'bigint', 'float', 'real', 'double', 'decimal', 'numeric'],
  ['datetime', 'timestamp'],
  ['json', 'jsonb'],
]

/** Looks at the schema of the database only, not at rows. */
export function findSchemaMismatches(database: Database, model: Model): SchemaMismatches {
  const panel = new Set([...adminTables(model), sessionTable])
  const described = describeTables(model).filter(({ name }) => !panel.has(name))
  const names = database
    .prepare("select name from sqlite_schema where type = 'table' and sql not like 'create virtual%'")
    .pluck()
    .all() as string[]
  const known = new Set([...panel, ...described.map(({ name }) => name)])
  const columnsOf = database.prepare('select name, type from pragma_table_info(?)')
  const types: string[] = []
  const columns: string[] = []
  for (const table of described) {
    const wanted = new Map(table.columns.map(({ name, type }) => [name, type]))
    for (const { name, type } of columnsOf.all(table.name) as { readonly name: string; readonly type: string }[]) {
      const said = wanted.get(name)
      if (said === undefined) columns.push(`${table.name}.${name}`)
      else if (familyOf(type) !== familyOf(said)) types.push(`${table.name}.${name} is ${type.toLowerCase()}, the model says ${said}`)
    }
  }
  return { types, columns, tables: names.filter((name) => !known.has(name) && !/^(?:sqlite_|octavo_|strapi_)/.test(name)) }
}

function familyOf(declared: string): string {
  const name = declared.toLowerCase().split('(', 1)[0]!.trim()
  return families.find((family) => family.includes(name))?.[0] ?? name
}
