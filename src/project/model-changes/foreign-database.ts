// Refuses a database that is not that of the project before anything opens it to write, and a change that would take a table of another program.
import { type Database, type DatabaseView, hasColumns } from '../../database/database.js'
import type { Config } from '../../foundation/config/config.js'
import type { Model } from '../../model/schema/types.js'
import { type FoundTables, foreignTables, nameOf, refuseForeign, refuseOlderStrapi, sentenceOf } from '../../model/tables/foreign-tables.js'
import { describeTables } from '../../model/tables/tables.js'
import { refusedName } from './refusals.js'

/** @throws ConfigError with a sentence that says what to do */
export async function refuseForeignDatabase(config: Config, view: DatabaseView, model: Model): Promise<void> {
  refuseForeign(model, await foundTables(config, view))
}

/** The tables that do not belong to the project, each with what it lacks: `things lacks document_id`. @throws ConfigError for a database of Strapi 3 or 4, in which nothing does */
export async function foreignIn(config: Config, view: DatabaseView, model: Model): Promise<readonly string[]> {
  const found = await foundTables(config, view)
  refuseOlderStrapi(found)
  return foreignTables(model, found).map((table) => `${nameOf(table)} lacks ${table.lacking.join(' and ')}`)
}

/** What is in the database of a project. */
async function foundTables(config: Config, view: DatabaseView): Promise<FoundTables> {
  const [{ has }, declared] = [await view.tables(), await view.declaredColumns()]
  return { has, hasColumn: (table, column) => declared(table, column) !== null, schema: schemaOf(config) }
}

const schemaOf = ({ database: { client, server } }: Config): string | null => (client === 'postgres' ? (server?.schema ?? null) : null)

/**
 * Refuses a change of the model that needs a table which another program has made. `path`: where schemas are in the request.
 * @throws ApiError 400
 */
export async function refuseForeignTables(
  config: Config,
  database: Database,
  { from, to }: { readonly from: Model; readonly to: Model },
  path: readonly string[],
): Promise<void> {
  const former = new Set(describeTables(from).map(({ name }) => name))
  const added = describeTables(to).filter(({ name }) => !former.has(name))
  if (added.length === 0) return
  const others = new Set((await database.mismatches(from)).tables)
  const found = new Map<string, ReadonlySet<string>>()
  for (const { name, columns } of added.filter((table) => others.has(table.name))) {
    const there = new Set<string>()
    for (const column of columns) if (await hasColumns(database.main, name, [column.name])) there.add(column.name)
    found.set(name, there)
  }
  const [foreign] = foreignTables(to, {
    has: (table) => found.has(table),
    hasColumn: (table, column) => found.get(table)!.has(column),
    schema: schemaOf(config),
  })
  if (foreign !== undefined) throw refusedName(to, foreign.name, null, sentenceOf(foreign), path)
}
