// Carries out changes of a model on the database of a server, as a service does.
import type { RawBuilder } from 'kysely'
import type { ModelWork } from '../../src/database/model-work.js'
import { carryOutOnPostgres } from '../../src/database/postgres/carry-out.js'
import { execute, objectsOf, openPool, openStatements } from '../../src/database/postgres/connection.js'
import { writePostgresSql } from '../../src/database/postgres/dialect.js'
import { openOutcomes } from '../../src/database/postgres/outcomes.js'
import { findSchemaMismatches } from '../../src/database/postgres/schema-mismatches.js'
import type { SchemaMismatches } from '../../src/database/schema/mismatches.js'
import type { Model } from '../../src/model/types.js'
import { settingsOf } from './model-work.js'
import type { ServerClient } from './server.js'

/** A database of a server. */
export interface ModelWorker {
  carryOut(work: ModelWork, wait?: number): Promise<boolean>
  /** The number in the only row and column `count` of a query. */
  count(query: RawBuilder<unknown>): Promise<number>
  mismatches(model: Model): Promise<SchemaMismatches>
  close(): Promise<void>
}

export async function openWorker(_client: ServerClient, url: string): Promise<ModelWorker> {
  const settings = settingsOf(url)
  const pool = openPool(settings, { max: 2, pipelined: false, failed: () => {} })
  const statements = openStatements(pool)
  return {
    carryOut: (work, wait = 2_000) =>
      carryOutOnPostgres({ settings, outcomes: openOutcomes(pool, statements), wait, failed: () => {} }, work),
    count: async (query) => {
      const { text, values } = writePostgresSql(query)
      return Number(objectsOf(await execute(statements, pool, text, values))[0]!.count)
    },
    mismatches: (model) => findSchemaMismatches(pool, model),
    close: () => pool.end(),
  }
}
