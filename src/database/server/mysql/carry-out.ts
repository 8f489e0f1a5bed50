// Carries out a change of the content model on MySQL or MariaDB: step by step, on a connection of its own. What ends it leaves the steps that
// are done; the next try goes on behind them.
import type { ServerSettings } from '../../../foundation/config/database-server.js'
import { ApiError } from '../../../foundation/errors/errors.js'
import { pause } from '../../../foundation/runtime/clock.js'
import { copiedRows } from '../../../model/diff/reversing.js'
import type { Dialect } from '../../dialect.js'
import type { ModelWork, TakingBack } from '../../model-work.js'
import { unavailable } from '../../unavailable.js'
import { type Client, objectsOf } from './client.js'
import { explained, isConflict, isConnectionLoss, isLasting } from './errors.js'
import { releaseLock, takeLock } from './locks.js'
import { onClient, openPool } from './pool.js'
import { preparationError } from './prepare-database.js'
import { dropCopies } from './reversing-steps.js'
import { type MysqlStepSession, runReversingStep, runStep } from './run-model-steps.js'
import { execute, openStatements } from './statements.js'
import { writeMysqlSql } from './words.js'

/** What changes of a database are carried out with. */
export interface MysqlCarryingOut {
  readonly settings: ServerSettings
  readonly dialect: Dialect
  /** Milliseconds to wait for a table that is in use; everybody who comes later waits behind that. */
  readonly wait: number
  /** Milliseconds to wait for another process that changes tables. */
  readonly waitForOthers: number
  /** Receives the loss of the connection. */
  failed(error: Error): void
}

/** Times that a step is begun; between two of them whoever waited behind it has its turn. Milliseconds until the next one. */
const [tries, pauseBetween] = [3, 500]

/**
 * Carries out what is left of a change. Resolves to false, and changes nothing, where it is outdated.
 * @throws ApiError 503 where a table is in use for too long or the server is lost; steps that are noted are done then
 */
export const carryOutOnMysql = (options: MysqlCarryingOut, work: ModelWork): Promise<boolean> =>
  onConnection(options, (client) => carryOutOn(client, options, work))

/** Works on a connection of its own. */
async function onConnection<Result>(options: MysqlCarryingOut, work: (client: Client) => Promise<Result>): Promise<Result> {
  const pool = openPool(options.settings, { max: 1, failed: options.failed })
  try {
    return await onClient(pool, work)
  } catch (error) {
    if (isConnectionLoss(error)) options.failed(error as Error)
    throw explained(preparationError(error))
  } finally {
    await pool.close()
  }
}

/**
 * Takes back what was done of a change. Resolves to false, and changes nothing, where somebody else has done it.
 * @throws ApiError 503 as `carryOutOnMysql`
 */
export const takeBackOnMysql = (options: MysqlCarryingOut, work: TakingBack): Promise<boolean> =>
  onConnection(options, (client) =>
    changing(client, options, work, async (session) => {
      const { steps, progress } = work
      for (let index = await doneOf(session, progress); index < steps.length; index++)
        await tried(() => runReversingStep(session, { step: steps[index]!, done: progress.note(index + 1) }))
    }),
  )

const carryOutOn = (client: Client, options: MysqlCarryingOut, work: ModelWork): Promise<boolean> =>
  changing(client, options, work, async (session) => {
    const { steps, model, progress } = work
    const first = await doneOf(session, progress)
    // Writes that looked for changes before this one was recorded are waited for; later ones see it.
    await orGiveUp(session, work, first, () => client.query("alter table octavo_model_history comment = ''"))
    for (let index = first; index < steps.length; index++) {
      const step = steps[index]!
      const [later, copies, done] = [steps.slice(index + 1), copiedRows(step, index), progress.note(index + 1)]
      await orGiveUp(session, work, index, () => runStep(session, { step, later, copies, model, done }))
    }
  })

/** Runs what comes after the first `done` steps. Where it cannot be executed the change is given up, if that is possible. @throws its error */
async function orGiveUp(
  { ask }: MysqlStepSession,
  { giveUp, givesUpInUse = false }: ModelWork,
  done: number,
  run: () => Promise<unknown>,
): Promise<void> {
  try {
    await tried(run)
  } catch (error) {
    const isGivenUp = isLasting(error) || (givesUpInUse && isInUse(error))
    const given = isGivenUp ? giveUp?.(done) : undefined
    if (given === undefined || given === null) throw error
    await ask(given)
    throw isInUse(error) ? unavailable(`${inUse}. What was done of it was taken back; try again`, (error as Error).cause) : error
  }
}

/** How many steps earlier tries have finished. */
async function doneOf({ ask }: MysqlStepSession, { done }: ModelWork['progress']): Promise<number> {
  const [noted] = await ask(done)
  return Number(noted?.done ?? 0)
}

/** Runs steps while nobody else changes tables, and then the statements that make it count. */
async function changing(
  client: Client,
  { dialect, wait, waitForOthers }: MysqlCarryingOut,
  { isOutdated, make }: Pick<ModelWork, 'isOutdated' | 'make'>,
  work: (session: MysqlStepSession) => Promise<void>,
): Promise<boolean> {
  // No column of moments is given a value here: what stands beside values need not be known.
  const statements = openStatements(dialect)
  const session: MysqlStepSession = {
    client,
    dialect,
    ask: async (query) => {
      const { text, values } = writeMysqlSql(query)
      return objectsOf(await execute(statements, client, text, values))
    },
  }
  if (!(await takeLock(client, 'prepare', waitForOthers)))
    throw unavailable('Another process changes the tables of the database; try again')
  try {
    if ((await session.ask(isOutdated)).length > 0) return false
    // Rows go and come in an order of their own, and tables with them.
    await client.query(`set session foreign_key_checks = 0, lock_wait_timeout = ${Math.max(1, Math.ceil(wait / 1000))}`)
    await work(session)
    await dropCopies(client)
    for (const statement of make) await session.ask(statement)
    return true
  } finally {
    await releaseLock(client, 'prepare').catch(() => client.cut())
  }
}

const inUse = 'A table of the change is in use'

/** Whether a step was tried as often as it is, because of a table in use. */
const isInUse = (error: unknown): boolean => error instanceof ApiError && isConflict(error.cause)

/** Tries a step again where a table was in use. */
async function tried(step: () => Promise<unknown>): Promise<void> {
  for (let left = tries; ; left--) {
    try {
      await step()
      return
    } catch (error) {
      if (!isConflict(error)) throw error
      if (left === 1) throw unavailable(`${inUse}. It is not finished yet; try again`, error)
      await pause(pauseBetween)
    }
  }
}
