// The writes of a service: transactions on a bounded pool, many at a time. Each is serializable; one that conflicts with another is run
// again, in turn with others that conflicted; while many conflict, transactions take turns from the start.
import { elapsed } from '../../runtime/clock.js'
import type { PlanHandle, Transaction, WriteDatabase } from '../database.js'
import { openConflicts, retried } from '../server/attempts.js'
import type { WriteOptions } from '../server/options.js'
import { openShare } from '../server/share.js'
import { unavailable } from '../unavailable.js'
import { type Client, writing } from './client.js'
import { explained, isConflict, isConnectionLoss } from './errors.js'
import { type MysqlPlanReader, preparePlanReader } from './execute.js'
import { type MysqlOutcomes, openOutcomes } from './outcomes.js'
import { onClient, openPool, type Pool } from './pool.js'
import type { MysqlStatements } from './statements.js'
import { beginAttempt, type MysqlAttempt } from './transaction.js'

/** Milliseconds after the end of its time in which a transaction ends by itself; then its connection is cut. */
const endPatience = 1_000

/** Opens the writes; connections are made when they are needed. `small`: a pool for statements about the outcome of others. */
export function openWrites(options: WriteOptions, small: Pool, statements: MysqlStatements, failed: (error: Error) => void): WriteDatabase {
  const { settings, connections, writeQueue, writeTimeout, writtenBytes, signer } = options
  // MySQL ends those that do nothing: none is kept.
  const pool = openPool({ ...settings, pool: { ...settings.pool, min: 0 } }, { max: connections, greetings: writing, failed })
  const turns = openShare(1, writeQueue, 'Too many writes are waiting')
  const conflicts = openConflicts()
  const outcomes = openOutcomes(small)
  const readers = new Map<number, MysqlPlanReader>()
  let plans = 0

  function readerOf({ id, plan }: PlanHandle): MysqlPlanReader {
    const reader = readers.get(id) ?? preparePlanReader(plan, signer)
    readers.set(id, reader)
    return reader
  }

  /** One try on a connection of the pool. @throws what made it fail; nothing is committed then */
  async function attempt<Result>(work: (transaction: Transaction) => Promise<Result>, deadline: number, inTurn: boolean): Promise<Result> {
    const left = Math.max(1, Math.ceil(deadline - elapsed()))
    const run = async (client: Client): Promise<Result> => {
      const under = beginAttempt(client, { statements, readerOf, writtenBytes, deadline, inTurn })
      const result = await tried(under, work)
      await committed(under, outcomes)
      outcomes.committed()
      return result
    }
    return onClient(pool, run, left + endPatience)
  }

  async function transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    if (pool.waiting >= writeQueue) throw unavailable('Too many writes are waiting')
    const deadline = elapsed() + writeTimeout
    const isOver = () => (elapsed() > deadline ? unavailable('The write took too long') : null)
    const run = (inTurn: boolean) => (inTurn ? turns(() => attempt(work, deadline, true), isOver) : attempt(work, deadline, false))
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
async function committed(under: MysqlAttempt, outcomes: MysqlOutcomes): Promise<void> {
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
