// The writes of a service: transactions on a bounded pool, many at a time. Each is serializable; one that conflicts with another is run
// again, in turn with others that conflicted; while many conflict, transactions take turns from the start.
import { elapsed } from '../../runtime/clock.js'
import type { PlanHandle, Transaction, WriteDatabase } from '../database.js'
import { openConflicts, retried } from '../server/attempts.js'
import type { WriteOptions } from '../server/options.js'
import { openTurns, type RunTogether } from '../server/turns.js'
import { unavailable } from '../unavailable.js'
import { type Client, writing } from './client.js'
import { explained, isConflict, isConnectionLoss } from './errors.js'
import { type MysqlPlanReader, preparePlanReader } from './execute.js'
import { type MysqlOutcomes, openOutcomes } from './outcomes.js'
import { onClient, openPool, type Pool } from './pool.js'
import type { MysqlStatements } from './statements.js'
import { beginAttempt, type MysqlAttempt, type MysqlAttemptOptions, runTogether } from './transaction.js'

/** Milliseconds after the end of its time in which a transaction ends by itself; then its connection is cut. */
const endPatience = 1_000

/** Opens the writes; connections are made when they are needed. `small`: a pool for statements about the outcome of others. */
export function openWrites(options: WriteOptions, small: Pool, statements: MysqlStatements, failed: (error: Error) => void): WriteDatabase {
  const { settings, connections, writeQueue, writeTimeout, writtenBytes, signer } = options
  // MySQL ends those that do nothing: none is kept.
  const pool = openPool({ ...settings, pool: { ...settings.pool, min: 0 } }, { max: connections, greetings: writing, failed })
  const conflicts = openConflicts()
  const outcomes = openOutcomes(small)
  const readers = new Map<number, MysqlPlanReader>()
  let plans = 0

  function readerOf({ id, plan }: PlanHandle): MysqlPlanReader {
    const reader = readers.get(id) ?? preparePlanReader(plan, signer)
    readers.set(id, reader)
    return reader
  }

  /** Runs `begun` on a connection of the pool, until `deadline`. */
  const begin = <Result>(begun: (client: Client, options: MysqlAttemptOptions) => Promise<Result>, deadline: number): Promise<Result> => {
    const left = Math.max(1, Math.ceil(deadline - elapsed()))
    return onClient(pool, (client) => begun(client, { statements, readerOf, writtenBytes, deadline }), left + endPatience)
  }

  /** One try. @throws what made it fail; nothing is committed then */
  const attempt = <Result>(work: (transaction: Transaction) => Promise<Result>, deadline: number): Promise<Result> =>
    begin(async (client, options) => {
      const under = beginAttempt(client, options)
      const result = await tried(under, work)
      await committed(under, outcomes)
      outcomes.committed()
      return result
    }, deadline)

  const together: RunTogether = (turns) =>
    begin(
      async (client, options) => {
        const under = await runTogether(client, turns, options).catch(async (error: unknown) => {
          await client.query('rollback').catch(() => client.cut())
          throw error
        })
        await committed(under, outcomes)
        outcomes.committed()
        return under.outcomes
      },
      Math.max(...turns.map(({ deadline }) => deadline)),
    )

  const inTurn = openTurns(together, writeQueue)

  async function transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    if (pool.waiting >= writeQueue) throw unavailable('Too many writes are waiting')
    const deadline = elapsed() + writeTimeout
    const run = (isInTurn: boolean) => (isInTurn ? inTurn(work, deadline) : attempt(work, deadline))
    return retried(run, deadline, { conflicts, isConflict, isConnectionLoss, explained, failed })
  }

  return {
    transaction,
    run: (query) => transaction(async (begun) => void begun.follow(query)),
    register: (plan) => ({ id: ++plans, plan }),
    unregister: ({ id }) => void readers.delete(id),
    close: () => pool.close(),
  }
}

/** Runs the work of a transaction; where it fails, nothing of it stays. */
async function tried<Result>(under: MysqlAttempt, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
  try {
    const result = await work(under.transaction)
    if (under.failure() !== null) throw under.failure()
    return result
  } catch (error) {
    await under.rollback()
    throw under.failure() ?? error
  }
}

/** Commits. Where the connection is lost meanwhile, it is found out what became of the transaction. */
async function committed(under: Pick<MysqlAttempt, 'id' | 'commit' | 'rollback'>, outcomes: MysqlOutcomes): Promise<void> {
  try {
    await under.commit()
  } catch (error) {
    const id = under.id()
    if (!isConnectionLoss(error) || id === null) {
      await under.rollback()
      throw error
    }
    const outcome = await outcomes.outcomeOf(id)
    if (outcome === 'committed') return
    if (outcome === 'aborted') throw error
    throw unavailable('The database was lost while it committed, and may have done so: look whether the write is there', error)
  }
}
