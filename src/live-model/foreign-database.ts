// Refuses a database that is not that of the project before anything opens it to write.
import type { Config } from '../config/config.js'
import type { DatabaseView } from '../database/database.js'
import { refuseForeign } from '../database/schema/foreign-tables.js'
import type { Model } from '../model/types.js'

/** @throws ConfigError with a sentence that says what to do */
export async function refuseForeignDatabase({ database: { client, server } }: Config, view: DatabaseView, model: Model): Promise<void> {
  const [{ has }, declared] = [await view.tables(), await view.declaredColumns()]
  const hasColumn = (table: string, column: string): boolean => declared(table, column) !== null
  refuseForeign(model, { has, hasColumn, schema: client === 'postgres' ? (server?.schema ?? null) : null })
}
