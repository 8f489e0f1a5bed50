// The writes of a service: transactions on a bounded pool, many at a time. Each is serializable; one that conflicts with another is run
// again, in turn with others that conflicted; while many conflict, transactions take turns from the start.
import type pg from 'pg'
import { elapsed } from '../../runtime/clock.js'
import type { PlanHandle, Transaction, WriteDatabase } from '../database.js'
import { openConflicts, retried } from '../server/attempts.js'
import type { WriteOptions } from '../server/options.js'
import { openTurns, type RunTogether } from '../server/turns.js'
import { unavailable } from '../unavailable.js'
import { onConnection, openPool, type Statements } from './connection.js'
import { explained, isConflict, isConnectionLoss } from './errors.js'
import { type PlanReader, preparePlanReader } from './execute.js'
import { type Outcomes, openOutcomes } from './outcomes.js'
import { type Attempt, type AttemptOptions, beginAttempt, runTogether } from './transaction.js'

/** Milliseconds that a statement of a write waits for a lock. */
const lockTimeout = 3_000

/** Milliseconds after the end of its time in which a transaction ends by itself; then its connection is cut. */
const endPatience = 1_000

/** Opens the writes; connections are made when they are needed. `small`: a pool for statements about the outcome of others. */
export function openWrites(options: WriteOptions, small: pg.Pool, statements: Statements, failed: (error: Error) => void): WriteDatabase {
  const { settings, connections, writeQueue, writeTimeout, writtenBytes, signer } = options
  const pool = openPool(settings, { max: connections, pipelined: true, failed })
  const conflicts = openConflicts()
  const outcomes = openOutcomes(small, statements)
  const readers = new Map<number, PlanReader>()
  let plans = 0

  function readerOf({ id, plan }: PlanHandle): PlanReader {
    const reader = readers.get(id) ?? preparePlanReader(plan, signer)
    readers.set(id, reader)
    return reader
  }

  /** Runs `begun` on a connection of the pool, until `deadline`. */
  async function begin<Result>(
    begun: (client: pg.PoolClient, options: AttemptOptions, epoch: string) => Promise<Result>,
    deadline: number,
    inTurn: boolean,
  ): Promise<Result> {
    const epoch = await outcomes.epoch()
    const left = Math.max(1, Math.ceil(deadline - elapsed()))
    const options = { statements, readerOf, writtenBytes, deadline, statementTimeout: left, lockTimeout, inTurn }
    return onConnection(pool, (client) => begun(client, options, epoch), left + endPatience)
  }

  /** One try. @throws what made it fail; nothing is committed then */
  const attempt = <Result>(work: (transaction: Transaction) => Promise<Result>, deadline: number): Promise<Result> =>
    begin(
      async (client, options, epoch) => {
        const under = beginAttempt(client, options)
        const result = await tried(under, work)
        await committed(under, outcomes, epoch)
        return result
      },
      deadline,
      false,
    )

  const together: RunTogether = (turns) =>
    begin(
      async (client, options, epoch) => {
        const under = await runTogether(client, turns, options).catch(async (error: unknown) => {
          await client.query('rollback').catch(() => {})
          throw error
        })
        await committed(under, outcomes, epoch)
        return under.outcomes
      },
      Math.max(...turns.map(({ deadline }) => deadline)),
      true,
    )

  const inTurn = openTurns(together, writeQueue)

  async function transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    if (pool.waitingCount >= writeQueue) throw unavailable('Too many writes are waiting')
    const deadline = elapsed() + writeTimeout
    const run = (isInTurn: boolean) => (isInTurn ? inTurn(work, deadline) : attempt(work, deadline))
    return retried(run, deadline, { conflicts, isConflict, isConnectionLoss, explained, failed })
  }

  return {
    transaction,
    run: (query) => transaction(async (begun) => void begun.follow(query)),
    register: (plan) => ({ id: ++plans, plan }),
    unregister: ({ id }) => void readers.delete(id),
    close: () => pool.end(),
  }
}

/** Runs the work of a transaction; where it fails, nothing of it stays. */
async function tried<Result>(under: Attempt, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
  try {
    const result = await work(under.transaction)
    if (under.failure() !== null) throw under.failure()
    return result
  } catch (error) {
    const failure = under.failure()
    await under.rollback().catch(() => {})
    throw failure ?? error
  }
}

/** Commits. Where the connection is lost meanwhile, the server is asked what became of the transaction. */
async function committed(under: Omit<Attempt, 'transaction'>, outcomes: Outcomes, epoch: string): Promise<void> {
  const before = under.failure()
  try {
    await under.commit()
  } catch (error) {
    if (!isConnectionLoss(error) || before !== null) throw error
    const id = await under.id.catch(() => null)
    const outcome = id === null ? 'aborted' : await outcomes.outcomeOf(id, epoch)
    if (outcome === 'committed') return
    if (outcome === 'aborted') throw error
    throw unavailable('The database was lost while it committed, and may have done so: look whether the write is there', error)
  }
}
