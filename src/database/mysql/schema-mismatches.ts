// Where a database on MySQL or MariaDB and the model contradict each other.
import type { Model } from '../../model/types.js'
import type { SchemaMismatches } from '../schema/mismatches.js'
import { compareWithModel } from '../schema/mismatches.js'
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
