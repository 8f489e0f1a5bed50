// Where a database on PostgreSQL and the model contradict each other.
import type { Model } from '../../../model/schema/types.js'
import type { SchemaMismatches } from '../../../model/tables/mismatches.js'
import { compareWithModel } from '../../../model/tables/mismatches.js'
import { storedName } from '../../../model/tables/stored-name.js'
import type { DeclaredColumn } from '../../database.js'
import { type Queryable, readCatalog } from './catalog.js'
import { declaredType } from './create-tables.js'

/** Families of types: within one, a value is read as it is. */
const families: readonly (readonly string[])[] = [
  ['varchar', 'character varying', 'text', 'character'],
  ['integer', 'smallint', 'bigint', 'real', 'double precision', 'numeric'],
  ['json', 'jsonb'],
]

/** Looks at the schema of the database only, not at rows. */
export async function findSchemaMismatches(database: Queryable, model: Model): Promise<SchemaMismatches> {
  const { tables, ownTables } = await readCatalog(database)
  return compareWithModel(model, {
    tables: ownTables,
    columnsOf: (table) => tables.get(storedName(table)) ?? [],
    storedName,
    declaredType,
    families,
  })
}

/** How columns are declared. */
export async function declaredColumnsOf(database: Queryable): Promise<DeclaredColumn> {
  const { tables } = await readCatalog(database)
  return (table, column) => tables.get(storedName(table))?.find(({ name }) => name === storedName(column))?.type ?? null
}
