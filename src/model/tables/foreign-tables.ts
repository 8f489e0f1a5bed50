// Refuses a database that is not that of the project: one of Strapi 3 or 4, and one in which a table has the name of a table of the project.
import { ConfigError } from '../../foundation/errors/errors.js'
import { schemasOf } from '../schema/owners.js'
import type { Model } from '../schema/types.js'
import { adminTables } from './admin-tables.js'
import type { Column } from './table.js'
import { describeTables } from './tables.js'

/** What is in a database, by the names of the model. */
export interface FoundTables {
  /** Whether there is a table of this name. */
  has(name: string): boolean
  hasColumn(table: string, column: string): boolean
  /** The schema of the tables, where the database has several; null: it has none. */
  readonly schema: string | null
}

/** The table by which a database of Strapi is known, of any version. */
const firstTable = 'strapi_core_store_settings'

/** The column that every content-type has in Strapi 5, and none had in Strapi 4. */
const since5 = 'document_id'

/** Tables that every project has. Those of optional parts of the panel may be left from an older version. */
const everywhere = ['files', 'up_users', 'up_roles', 'up_permissions', 'i18n_locale', 'admin_users', 'admin_roles']

/** @throws ConfigError with a sentence that says what to do; nothing was changed so far */
export function refuseForeign(model: Model, found: FoundTables): void {
  refuseOlderStrapi(found)
  const [first] = foreignTables(model, found)
  if (first !== undefined) throw new ConfigError(sentenceOf(first))
}

/** Tables of every project of Strapi 3, which no later version has. */
const ofStrapi3 = ['core_store', 'strapi_administrator']

/** @throws ConfigError with a sentence that says what to do about a database of Strapi 3 or 4 */
export function refuseOlderStrapi({ has, hasColumn }: FoundTables): void {
  if (!has(firstTable) && ofStrapi3.every(has))
    throw new ConfigError(
      `The database is one of Strapi 3: it has the tables ${ofStrapi3.join(' and ')}. Migrate the project to Strapi 4 and then to Strapi 5, or use another database. Octavo has changed nothing in it.`,
    )
  const known = has(firstTable) ? everywhere.filter(has) : []
  if (known.length > 0 && !known.some((table) => hasColumn(table, since5)))
    throw new ConfigError(
      `The database is one of Strapi 4: its table ${known[0]} has no column ${since5}. Make a backup, and start the project once with Strapi 5, which migrates the database. Octavo has changed nothing in it.`,
    )
}

/** A table that has the name of a table of the project, and is not one. */
export interface ForeignTable {
  readonly name: string
  /** The content-type or component; undefined: a table that belongs to several. */
  readonly uid: string | undefined
  readonly lacking: readonly string[]
  readonly schema: string | null
  /** Whether it may be left of a plugin that the project did not have when its database was migrated from Strapi 4. */
  readonly mayBeLeft: boolean
}

/** The tables that do not belong to the project. */
export function foreignTables(model: Model, { has, hasColumn, schema }: FoundTables): readonly ForeignTable[] {
  const uids = new Map(schemasOf(model).map(({ uid, table }) => [table, uid]))
  // A Strapi of another version made those of the panel, unless there is no Strapi.
  const panel = has(firstTable) ? adminTables(model) : new Set<string>()
  return describeTables(model).flatMap(({ name, columns }) => {
    const lacking = panel.has(name) || !has(name) ? [] : lackingOf(columns, (column) => hasColumn(name, column))
    const uid = uids.get(name)
    const mayBeLeft = uid?.startsWith('plugin::') === true && lacking.includes(since5) && has(firstTable)
    return lacking.length === 0 ? [] : [{ name, uid, lacking, schema, mayBeLeft }]
  })
}

/** What a table lacks that is not one of the project: columns of every row, or all columns that a table between rows has. */
function lackingOf(columns: readonly Column[], hasColumn: (name: string) => boolean): readonly string[] {
  const names = columns.map(({ name }) => name)
  if (!names.some(hasColumn)) return names.includes(since5) ? ['id', since5] : names
  return ['id', since5].filter((name) => names.includes(name) && !hasColumn(name))
}

/** The name of a foreign table, with its schema where the database has several. */
export const nameOf = ({ name, schema }: ForeignTable): string => (schema === null ? name : `${schema}.${name}`)

/** What is wrong with a table that does not belong to the project, and what to do. */
export function sentenceOf(table: ForeignTable): string {
  const { uid, lacking } = table
  return `The table ${nameOf(table)} does not belong to this project: it has the name of a table of ${uid ?? 'the project'}, and lacks ${lacking.join(' and ')}. ${adviceOn(table)}. Octavo has changed nothing in it.`
}

function adviceOn({ uid, schema, mayBeLeft }: ForeignTable): string {
  if (mayBeLeft)
    return 'It may be left over from Strapi 4, of a plugin that was not there when Strapi 5 migrated the database. Make a backup, and rename the table or drop it'
  const place =
    schema === null
      ? 'Use another database for the project'
      : 'Set DATABASE_SCHEMA to a schema for the project alone, or use another database'
  // The names of other tables are not for the project to choose.
  return uid === undefined || /^(?:plugin|admin|strapi)::/.test(uid) ? place : `${place}, or give ${uid} another collectionName`
}
