// Compares a database with the model: missing tables and columns, foreign databases, and mismatched types.

import type { Logger } from 'pino'
import { ConfigError } from '../../foundation/errors/errors.js'
import { allSchemas } from '../schema/graph.js'
import type { Model } from '../schema/types.js'
import { accountIndexes, historyTable, type OwnIndex } from './own-indexes.js'
import type { Column, ColumnType, Index, Table } from './table.js'
import { adminTables, describeTables, unmanagedTables } from './tables.js'

/** `added` names missing tables and columns (`articles`, `articles.subtitle`). */
export interface Prepared {
  readonly isNew: boolean
  readonly added: readonly string[]
}

interface Present extends FoundTables {
  /** False once the database has the tables that a start makes first. */
  readonly isNew: boolean
  /** A table or an index. */
  has(name: string): boolean
}

/** A missing column, with the indexes of Strapi's layout that it completes. */
interface MissingColumn {
  readonly table: string
  readonly column: Column
  readonly indexes: readonly Index[]
}

export interface MissingSchema {
  readonly isNew: boolean
  readonly tables: readonly Table[]
  readonly columns: readonly MissingColumn[]
  /** Indexes for users and sessions: a few hundred milliseconds, once, for hundreds of thousands of rows. */
  readonly indexes: readonly OwnIndex[]
}

/**
 * Compares a database with the model. `sessions`: sessions are issued here, so their table gets columns of newer Strapi versions.
 * @throws ConfigError if it is not a database of the project
 */
export function findMissingSchema(model: Model, present: Present, sessions: boolean): MissingSchema {
  const { isNew } = present
  refuseForeign(model, present)
  // Tables of Strapi's panel stay as created by Strapi, whatever its version.
  const panel = isNew ? new Set<string>() : adminTables(model)
  const kept = isNew ? panel : unmanagedTables(model, sessions)
  const tables = describeTables(model).filter(({ name }) => !panel.has(name))
  return {
    isNew,
    tables: tables.filter(({ name }) => !present.has(name)),
    columns: tables.flatMap((table) => (!present.has(table.name) || kept.has(table.name) ? [] : findMissingColumns(table, present))),
    indexes: accountIndexes(model).filter(
      ({ name, table }) => !present.has(name) && (table === historyTable ? isNew || present.has(table) : !kept.has(table)),
    ),
  }
}

function findMissingColumns({ name: table, columns, indexes }: Table, present: Present): readonly MissingColumn[] {
  const has = (name: string): boolean => present.hasColumn(table, name)
  const lacking = indexes.filter(({ name }) => !present.has(name))
  const lastOf = (index: Index) => index.columns.filter((name) => !has(name)).at(-1)
  return columns
    .filter(({ name }) => !has(name))
    .map((column) => ({ table, column, indexes: lacking.filter((index) => lastOf(index) === column.name) }))
}

export const isComplete = ({ isNew, tables, columns, indexes }: MissingSchema): boolean =>
  !isNew && tables.length + columns.length + indexes.length === 0

/** The names of the tables and columns: `articles`, `articles.subtitle`. */
export const getMissingNames = ({ tables, columns }: MissingSchema): readonly string[] => [
  ...tables.map(({ name }) => name),
  ...columns.map(({ table, column }) => `${table}.${column.name}`),
]

/** Includes Octavo's tables, on database servers. */
export interface MissingServerSchema extends MissingSchema {
  readonly ownTables: boolean
}

export const isPrepared = (lacking: MissingServerSchema): boolean => !lacking.ownTables && isComplete(lacking)

export interface FoundTables {
  has(name: string): boolean
  hasColumn(table: string, column: string): boolean
  /** The schema of the tables, where the database has several; null: it has none. */
  readonly schema: string | null
}

/** Identifies a database of any Strapi version. */
const firstTable = 'strapi_core_store_settings'

/** The column that every content-type has in Strapi 5, and none had in Strapi 4. */
const since5 = 'document_id'

/** Tables of every project. Those of optional parts of the panel may be from an older version. */
const everywhere = ['files', 'up_users', 'up_roles', 'up_permissions', 'i18n_locale', 'admin_users', 'admin_roles']

/** @throws ConfigError with a sentence that says what to do; nothing was changed so far */
export function refuseForeign(model: Model, found: FoundTables): void {
  refuseOlderStrapi(found)
  const [first] = foreignTables(model, found)
  if (first !== undefined) throw new ConfigError(describeForeignTable(first))
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
interface ForeignTable {
  readonly name: string
  /** The content-type or component; undefined: a table that belongs to several. */
  readonly uid: string | undefined
  readonly lacking: readonly string[]
  readonly schema: string | null
  /** True if it may belong to a plugin that the project did not have when its database was migrated from Strapi 4. */
  readonly mayBeLeft: boolean
}

/** The tables that do not belong to the project. */
export function foreignTables(model: Model, { has, hasColumn, schema }: FoundTables): readonly ForeignTable[] {
  const uids = new Map(allSchemas(model).map(({ uid, table }) => [table, uid]))
  // Another version of Strapi may have created those of the panel.
  const panel = has(firstTable) ? adminTables(model) : new Set<string>()
  return describeTables(model).flatMap(({ name, columns }) => {
    const lacking = panel.has(name) || !has(name) ? [] : findForeignEvidence(columns, (column) => hasColumn(name, column))
    const uid = uids.get(name)
    const mayBeLeft = uid?.startsWith('plugin::') === true && lacking.includes(since5) && has(firstTable)
    return lacking.length === 0 ? [] : [{ name, uid, lacking, schema, mayBeLeft }]
  })
}

/** Missing columns that prove a foreign table: columns of every row, or all columns of a table between rows. */
function findForeignEvidence(columns: readonly Column[], hasColumn: (name: string) => boolean): readonly string[] {
  const names = columns.map(({ name }) => name)
  if (!names.some(hasColumn)) return names.includes(since5) ? ['id', since5] : names
  return ['id', since5].filter((name) => names.includes(name) && !hasColumn(name))
}

/** The name of a foreign table, with its schema where the database has several. */
export const nameOf = ({ name, schema }: ForeignTable): string => (schema === null ? name : `${schema}.${name}`)

/** Error message with a remedy. */
export function describeForeignTable(table: ForeignTable): string {
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
  // The project does not choose the names of other tables.
  return uid === undefined || /^(?:plugin|admin|strapi)::/.test(uid) ? place : `${place}, or give ${uid} another collectionName`
}

export interface SchemaMismatches {
  /** `menus.served is integer, the model says date`. */
  readonly types: readonly string[]
  /** `menus.old`: values without an attribute. */
  readonly columns: readonly string[]
  /** Tables of types that are gone, or of plugins. */
  readonly tables: readonly string[]
}

/** The tables of a database, and how their columns are declared. */
interface DeclaredTables {
  readonly tables: readonly string[]
  columnsOf(table: string): readonly { readonly name: string; readonly type: string }[]
  /** A name of the model as the database has it. */
  storedName(name: string): string
  /** The database's type of a column. */
  declaredType(type: ColumnType): string
  /** Types with interchangeable values; the first names each family. */
  readonly families: readonly (readonly string[])[]
}

/** Compares the declarations of a database with the model. */
export function compareWithModel(
  model: Model,
  { tables: names, columnsOf, storedName, declaredType, families }: DeclaredTables,
): SchemaMismatches {
  const familyOf = (declared: string): string => {
    const name = declared
      .toLowerCase()
      .replace(/\([^()]*\)/, '')
      .replace(/\s+/g, ' ')
      .trim()
    return families.find((family) => family.includes(name))?.[0] ?? name
  }
  const panel = unmanagedTables(model, false)
  const described = describeTables(model).filter(({ name }) => !panel.has(name))
  const known = new Set([...panel, ...described.map(({ name }) => name)].map(storedName))
  const types: string[] = []
  const columns: string[] = []
  for (const table of described) {
    const wanted = new Map(table.columns.map(({ name, type }) => [storedName(name), declaredType(type)]))
    for (const { name, type } of columnsOf(table.name)) {
      const said = wanted.get(name)
      if (said === undefined) {
        if (!name.startsWith('octavo_kept_')) columns.push(`${table.name}.${name}`)
      } else if (familyOf(type) !== familyOf(said)) types.push(`${table.name}.${name} is ${type.toLowerCase()}, the model says ${said}`)
    }
  }
  return { types, columns, tables: names.filter((name) => !known.has(name) && !/^(?:sqlite_|octavo_|strapi_)/.test(name)) }
}

export function warnOfDifferences(
  logger: Pick<Logger, 'warn' | 'info'>,
  added: readonly string[],
  { types, columns, tables }: SchemaMismatches,
): void {
  if (added.length > 0) logger.info({ added }, 'added missing tables and columns')
  if (types.length > 0) logger.warn({ types }, 'the types of some columns do not match the model; their values may be shown incorrectly')
  if (columns.length + tables.length > 0)
    logger.warn({ columns, tables }, 'the database has columns or tables that are not in the model; they are ignored')
}
