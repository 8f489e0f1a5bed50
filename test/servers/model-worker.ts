// Carries out changes of a model on the database of a server, as a service does.
import { type RawBuilder, sql } from 'kysely'
import type { ModelWork } from '../../src/database/database.js'
import { applyMysqlChange } from '../../src/database/server/mysql/apply-change.js'
import { checkServer } from '../../src/database/server/mysql/availability.js'
import { findSchemaMismatches as findMysqlMismatches } from '../../src/database/server/mysql/catalog.js'
import { toObjects as mysqlObjectsOf } from '../../src/database/server/mysql/client.js'
import { mysqlDialects } from '../../src/database/server/mysql/dialect.js'
import { onClient, openPool as openMysqlPool } from '../../src/database/server/mysql/pool.js'
import { execute as executeOnMysql } from '../../src/database/server/mysql/translate-sql.js'
import { applyPostgresChange } from '../../src/database/server/postgres/apply-change.js'
import { findSchemaMismatches } from '../../src/database/server/postgres/catalog.js'
import { writePostgresSql } from '../../src/database/server/postgres/dialect.js'
import { createStatements, execute, openPool, toObjects } from '../../src/database/server/postgres/pool.js'
import { createCommitOutcomes } from '../../src/database/server/postgres/transaction.js'
import type { Model } from '../../src/model/schema/types.js'
import type { SchemaMismatches } from '../../src/model/tables/compare-database.js'
import { settingsOf } from './model-work.js'
import type { ServerClient } from './server.js'

/** A database of a server. */
export interface ModelWorker {
  carryOut(work: ModelWork, wait?: number): Promise<boolean>
  /** The number in the only row and column `count` of a query. */
  count(query: RawBuilder<unknown>): Promise<number>
  mismatches(model: Model): Promise<SchemaMismatches>
  /** Progress record for steps that are committed one by one. */
  readonly progress: ModelWork['progress']
  /** Number of completed steps. */
  done(): Promise<number>
  close(): Promise<void>
}

/** The setting that records the progress of a change in tests. */
const noted = 'test_progress'

const progress: ModelWork['progress'] = {
  done: sql`select ${sql.id('value')} as done from strapi_core_store_settings where ${sql.id('key')} = ${noted}`,
  note: (next) =>
    next === 1
      ? sql`insert into strapi_core_store_settings (${sql.id('key')}, ${sql.id('value')}) values (${noted}, ${'1'})`
      : sql`update strapi_core_store_settings set ${sql.id('value')} = ${String(next)} where ${sql.id('key')} = ${noted}`,
}

/** Opens a database by its URL. */
export const openWorker = (client: ServerClient, url: string): Promise<ModelWorker> =>
  client === 'postgres' ? onPostgres(url) : onMysql(url)

async function onMysql(url: string): Promise<ModelWorker> {
  const settings = settingsOf(url)
  const pool = openMysqlPool(settings, { max: 2, failed: () => {} })
  const dialect = mysqlDialects[await checkServer(pool)]
  const rows = async (query: RawBuilder<unknown>) => mysqlObjectsOf(await onClient(pool, (client) => executeOnMysql(client, query)))
  return {
    carryOut: (work, wait = 2_000) => applyMysqlChange({ settings, dialect, wait, waitForOthers: 5_000, failed: () => {} }, work),
    count: async (query) => Number((await rows(query))[0]!.count),
    progress,
    done: async () => Number((await rows(progress.done))[0]?.done ?? 0),
    mismatches: (model) => onClient(pool, (client) => findMysqlMismatches(client, model)),
    close: async () => pool.close(),
  }
}

async function onPostgres(url: string): Promise<ModelWorker> {
  const settings = settingsOf(url)
  const pool = openPool(settings, { max: 2, pipelined: false, failed: () => {} })
  const statements = createStatements(pool)
  const rows = async (query: RawBuilder<unknown>) => {
    const { text, values } = writePostgresSql(query)
    return toObjects(await execute(statements, pool, text, values))
  }
  return {
    carryOut: (work, wait = 2_000) =>
      applyPostgresChange({ settings, outcomes: createCommitOutcomes(pool, statements), wait, failed: () => {} }, work),
    count: async (query) => Number((await rows(query))[0]!.count),
    progress,
    done: async () => Number((await rows(progress.done))[0]?.done ?? 0),
    mismatches: (model) => findSchemaMismatches(pool, model),
    close: () => pool.end(),
  }
}
