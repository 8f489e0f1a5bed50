// Gives the open database of a service the tables and columns that another model needs.
import type { Database } from 'better-sqlite3'
import { sql } from 'kysely'
import type { Model } from '../../model/schema/types.js'
import { isComplete, type Lacking } from '../../model/tables/lacking.js'
import { inBookkeeping } from '../bookkeeping.js'
import type { WriteDatabase } from '../database.js'
import { throughSchemaChanges } from './connection.js'
import { indexStatement } from './indexes.js'
import { additionStatements, lackingIn } from './sync-schema.js'

/**
 * Adds what a model needs and the database lacks, in one transaction of the writer thread, so that it takes its turn among the writes.
 */
export async function fitModel(connection: Database, writer: WriteDatabase, model: Model, sessions: boolean): Promise<void> {
  const look = (): Lacking => throughSchemaChanges(() => lackingIn(connection, model, sessions))
  const lacking = look()
  if (isComplete(lacking)) return
  try {
    await inBookkeeping(writer, async (transaction) => {
      for (const statement of [...additionStatements(lacking), ...lacking.indexes.map(indexStatement)])
        await transaction.run(sql.raw(statement))
    })
  } catch (error) {
    // Another process may have added the same meanwhile.
    if (!isComplete(look())) throw error
  }
}
