// Where a database and the model contradict each other: columns of another type, columns and tables that nothing in the model has.
import type { Logger } from 'pino'
import type { Model } from '../schema/types.js'
import { keptTables } from './admin-tables.js'
import type { ColumnType } from './table.js'
import { describeTables } from './tables.js'

/** What of the database does not fit the model. */
export interface SchemaMismatches {
  /** `menus.served is integer, the model says date`. */
  readonly types: readonly string[]
  /** `menus.old`: values that no attribute shows any more. */
  readonly columns: readonly string[]
  /** Tables of types that are gone, or of plugins. */
  readonly tables: readonly string[]
}

/** The tables of a database, and how their columns are declared. */
export interface DeclaredTables {
  readonly tables: readonly string[]
  columnsOf(table: string): readonly { readonly name: string; readonly type: string }[]
  /** A name of the model as the database has it. */
  storedName(name: string): string
  /** How the database declares a column of the model. */
  declaredType(type: ColumnType): string
  /** Types among which values stay what they are; the first names each family. */
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
  const panel = keptTables(model, false)
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

/** Logs what a database lacked, and where it and the model contradict each other. */
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
