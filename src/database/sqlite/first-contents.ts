// The first content of a new project as a SQLite database in memory, from which any other database gets it.
import Connection, { type Database } from 'better-sqlite3'
import type { Model } from '../../model/schema/types.js'
import type { FillDatabase } from '../database.js'
import type { InitialRows } from './initial-rows.js'
import { prepareDatabase } from './sync-schema.js'

/** Makes the database: Strapi's first rows and what `fill` adds to them. The caller closes it. */
export async function firstContents(model: Model, first: InitialRows, fill: FillDatabase): Promise<Database> {
  const database = new Connection(':memory:')
  try {
    database.pragma('foreign_keys = on')
    await prepareDatabase(database, model, { first, wait: 0, sessions: true, fill: () => fill(database, first.now) })
    return database
  } catch (error) {
    database.close()
    throw error
  }
}
