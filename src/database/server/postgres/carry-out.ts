// Carries out a change of the content model on PostgreSQL: all of it in one transaction on a connection of its own, so that whatever ends it
// leaves the database as it was.
import type pg from 'pg'
import type { ServerSettings } from '../../../foundation/config/database-server.js'
import { pause } from '../../../foundation/runtime/clock.js'
import type { ModelWork } from '../../model-work.js'
import { unavailable } from '../../unavailable.js'
import { executePrepared, objectsOf, onConnection, openPool, openStatements } from './connection.js'
import { writePostgresSql } from './dialect.js'
import { cancelled, codeOf, explained, isConflict, isConnectionLoss } from './errors.js'
import type { Outcomes } from './outcomes.js'
import { preparationError, preparing } from './prepare-database.js'
import { forms } from './rows.js'
import { lockTables, runModelSteps, type StepSession } from './run-model-steps.js'

/** What changes of a database are carried out with. */
export interface CarryingOut {
  readonly settings: ServerSettings
  readonly outcomes: Outcomes
  /** Milliseconds to wait for tables that are in use; everybody who comes later waits behind that. */
  readonly wait: number
  /** Receives the loss of the connection. */
  failed(error: Error): void
}

/** Times that the tables are asked for; between two of them whoever waited behind that has its turn. Milliseconds until the next one. */
const [tries, pauseBetween] = [3, 500]

/** Tables were not to be had, or somebody else wanted them in another order. */
const mayPass = (error: unknown): boolean => isConflict(error) || codeOf(error) === cancelled

/**
 * Carries out a change. Resolves to false, and changes nothing, where it is outdated.
 * @throws ApiError 503 where the tables are in use for too long or the server is lost; nothing has happened then
 */
export async function carryOutOnPostgres(options: CarryingOut, work: ModelWork): Promise<boolean> {
  const pool = openPool(options.settings, { max: 1, pipelined: false, failed: options.failed })
  try {
    for (let left = tries; ; left--) {
      try {
        return await onConnection(pool, (client) => carryOutOn(client, pool, options, work))
      } catch (error) {
        if (isConnectionLoss(error)) options.failed(error as Error)
        if (!mayPass(error)) throw explained(preparationError(error, options.wait, options.settings.schema))
        if (left === 1) throw unavailable('The tables of the change are in use. Nothing was changed; try again', error)
        await pause(pauseBetween)
      }
    }
  } finally {
    await pool.end()
  }
}

async function carryOutOn(client: pg.PoolClient, pool: pg.Pool, { outcomes, wait }: CarryingOut, work: ModelWork): Promise<boolean> {
  const statements = openStatements(pool)
  const session: StepSession = {
    client,
    ask: async (query) => {
      const { text, values } = writePostgresSql(query)
      const statement = values.length === 0 ? { name: undefined, text, types: [] } : await statements.describe(text, client)
      return objectsOf(await executePrepared(client, statement, values))
    },
  }
  const epoch = await outcomes.epoch()
  try {
    await client.query(`begin isolation level read committed read write; ${forms}; set local lock_timeout = ${Math.ceil(wait)}`)
    await client.query(`select pg_advisory_xact_lock(${preparing})`)
    if ((await session.ask(work.isOutdated)).length > 0) {
      await client.query('rollback')
      return false
    }
    await client.query(`set local statement_timeout = ${Math.ceil(wait)}`)
    await lockTables(session, work.steps)
    await client.query('set local statement_timeout = 0')
    await runModelSteps(session, work.steps, work.model)
    for (const statement of work.make) await session.ask(statement)
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  }
  await commit(client, outcomes, epoch)
  return true
}

/** Commits. Where the connection is lost meanwhile, the server is asked what became of the transaction. */
async function commit(client: pg.PoolClient, outcomes: Outcomes, epoch: string): Promise<void> {
  const { rows } = await client.query<{ readonly id: string }>('select pg_current_xact_id()::text as id')
  try {
    await client.query('commit')
  } catch (error) {
    if (!isConnectionLoss(error)) throw error
    const outcome = await outcomes.outcomeOf(rows[0]!.id, epoch)
    if (outcome === 'committed') return
    if (outcome === 'aborted') throw error
    throw unavailable('The database was lost while it committed a change of the model, and may have done so', error)
  }
}
