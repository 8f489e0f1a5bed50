// Where a database on MySQL or MariaDB and the model contradict each other.
import type { Model } from '../../../model/schema/types.js'
import type { SchemaMismatches } from '../../../model/tables/mismatches.js'
import { compareWithModel } from '../../../model/tables/mismatches.js'
import type { DeclaredColumn } from '../../database.js'
import { type MysqlQueryable, readCatalog } from './catalog.js'
import { declaredType } from './create-tables.js'

/** Families of types: within one, a value is read as it is. MariaDB's JSON is a longtext. */
const families: readonly (readonly string[])[] = [
  ['varchar', 'char', 'text', 'longtext', 'mediumtext', 'tinytext', 'json'],
  ['int', 'int unsigned', 'bigint', 'bigint unsigned', 'smallint', 'mediumint', 'double', 'double unsigned', 'float', 'decimal'],
]

/** Looks at the schema of the database only, not at rows. */
export async function findSchemaMismatches(database: MysqlQueryable, model: Model): Promise<SchemaMismatches> {
  const { tables, ownTables } = await readCatalog(database)
  return compareWithModel(model, {
    tables: ownTables,
    columnsOf: (table) => tables.get(table) ?? [],
    storedName: (name) => name,
    declaredType,
    families,
  })
}

/** How columns are declared. MariaDB declares JSON as text with a check that it is valid. */
export async function declaredColumnsOf(database: MysqlQueryable): Promise<DeclaredColumn> {
  const { tables } = await readCatalog(database)
  const checked = await database
    .query(
      "select table_name, constraint_name from information_schema.check_constraints where constraint_schema = database() and check_clause like 'json_valid(%'",
    )
    .then(
      ({ rows }) => new Set(rows.map(([table, column]) => `${table}.${column}`)),
      // MySQL has a type for JSON, and another form of this table.
      () => new Set<string>(),
    )
  return (table, column) =>
    checked.has(`${table}.${column}`) ? 'json' : (tables.get(table)?.find(({ name }) => name === column)?.type ?? null)
}
