// Makes a database fit for the model: a new one gets every table and the rows it starts with, an existing one only what it
// lacks. Nothing is ever dropped or rewritten.
import type { Database } from 'better-sqlite3'
import type { Model } from '../model/types.js'
import type { FirstRows } from './bookkeeping.js'
import { initialize } from './bookkeeping.js'
import { createOwnTables } from './own-tables.js'
import { createStatements, quoted } from './table.js'
import { createTables, describeTables } from './tables.js'

/** What was done: whether the database is new, and what an existing one lacked (`articles`, `articles.subtitle`). */
export interface Prepared {
  readonly isNew: boolean
  readonly added: readonly string[]
}

/** Prepares the database behind `database`, all in one transaction. */
export function prepareDatabase(database: Database, model: Model, first: FirstRows): Prepared {
  createOwnTables(database)
  const tables = describeTables(model)
  const present = new Set(database.prepare("select name from sqlite_schema where type = 'table'").pluck().all() as string[])
  if (!present.has('strapi_core_store_settings')) {
    database.transaction(() => {
      createTables(
        database,
        tables.filter(({ name }) => !present.has(name)),
      )
      initialize(database, model, first)
    })()
    return { isNew: true, added: [] }
  }
  const added: string[] = []
  const columnsOf = database.prepare('select name from pragma_table_info(?)').pluck()
  database.transaction(() => {
    for (const table of tables) {
      if (!present.has(table.name)) {
        for (const statement of createStatements(table)) database.exec(statement)
        added.push(table.name)
        continue
      }
      const columns = new Set(columnsOf.all(table.name))
      for (const { name, type } of table.columns) {
        if (columns.has(name)) continue
        database.exec(`alter table ${quoted(table.name)} add column ${quoted(name)} ${type}`)
        added.push(`${table.name}.${name}`)
      }
    }
  })()
  return { isNew: false, added }
}
