// Carries out changes of a model on the database of a server, as a service does.
import { type RawBuilder, sql } from 'kysely'
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
  /** How far earlier tries have come, and how the next one notes it. */
  progress(): Promise<ModelWork['progress']>
  close(): Promise<void>
}

/** The setting in which tests note how far a change has come. */
const noted = 'test_progress'

const progressFrom = (done: number): ModelWork['progress'] => ({
  done,
  note: (next) =>
    next === 1
      ? sql`insert into strapi_core_store_settings (${sql.id('key')}, ${sql.id('value')}) values (${noted}, ${'1'})`
      : sql`update strapi_core_store_settings set ${sql.id('value')} = ${String(next)} where ${sql.id('key')} = ${noted}`,
})

const readProgress = sql`select ${sql.id('value')} as count from strapi_core_store_settings where ${sql.id('key')} = ${noted}`

export async function openWorker(_client: ServerClient, url: string): Promise<ModelWorker> {
  const settings = settingsOf(url)
  const pool = openPool(settings, { max: 2, pipelined: false, failed: () => {} })
  const statements = openStatements(pool)
  const rows = async (query: RawBuilder<unknown>) => {
    const { text, values } = writePostgresSql(query)
    return objectsOf(await execute(statements, pool, text, values))
  }
  return {
    carryOut: (work, wait = 2_000) =>
      carryOutOnPostgres({ settings, outcomes: openOutcomes(pool, statements), wait, failed: () => {} }, work),
    count: async (query) => Number((await rows(query))[0]!.count),
    progress: async () => progressFrom(Number((await rows(readProgress))[0]?.count ?? 0)),
    mismatches: (model) => findSchemaMismatches(pool, model),
    close: () => pool.end(),
  }
}
