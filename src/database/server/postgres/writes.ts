// A service's writes on PostgreSQL: serializable transactions on a bounded pool.
import type pg from 'pg'
import { elapsed } from '../../../foundation/runtime/clock.js'
import type { Transaction } from '../../database.js'
import { commitUnknownError, unavailableError } from '../../errors.js'
import type { WriteOptions } from '../connections.js'
import { latestDeadline, type QueuedWrite } from '../group-commit.js'
import { createServerWrites, maxConcurrent, registerPlans, type ServerWrites } from '../writes.js'
import { type CommitLogAccess, createLogCleanup } from './commit-log.js'
import { isConflict, isConnectionLoss, isLockWait, toApiError } from './errors.js'
import { createOwnTransactions } from './history.js'
import { isUnconfirmed, onConnection, openPool, poolActivity, type Statements } from './pool.js'
import { preparePlanReader } from './reads.js'
import {
  type Attempt,
  type AttemptOptions,
  beginAttempt,
  createCommitOutcomes,
  type PostgresCommitOutcomes,
  type PostgresGroup,
  runGroup,
} from './transaction.js'

/** Grace period of an overdue transaction in milliseconds, before its connection is cut. */
const gracePeriodMs = 1_000

interface WriteParts {
  /** Pool for determining the outcomes of commits. */
  readonly small: pg.Pool
  readonly statements: Statements
  readonly log: CommitLogAccess
  failed(error: Error): void
}

/** Connections are opened on demand. */
export function openWrites(options: WriteOptions, { small, statements, log, failed }: WriteParts): ServerWrites {
  const { settings, connections, writtenBytes, signer } = options
  const pool = openPool(settings, { max: maxConcurrent(connections), pipelined: true, failed })
  // Reserved for grouped writes, in case all others wait for locks.
  const groupPool = connections > 1 ? openPool(settings, { max: 1, pipelined: true, failed }) : pool
  const outcomes = createCommitOutcomes(small, statements)
  const own = createOwnTransactions()
  const logged = createLogCleanup(small, statements, log)
  const plans = registerPlans((plan) => preparePlanReader(plan, signer))

  /** Runs `begun` on a connection until `deadline`. If the commit log is unavailable, it is rolled back and rerun without it. */
  async function begin<Result>(
    free: pg.Pool,
    deadline: number,
    begun: (client: pg.PoolClient, options: AttemptOptions, epoch: string) => Promise<Result>,
  ): Promise<Result> {
    const epoch = await outcomes.epoch()
    const left = Math.max(1, Math.ceil(deadline - elapsed()))
    const attemptOptions = { statements, own, log, readerOf: plans.readerOf, writtenBytes, deadline, statementTimeout: left }
    try {
      return await onConnection(free, (client) => begun(client, attemptOptions, epoch), left + gracePeriodMs)
    } catch (error) {
      if (!log.refused(error)) throw error
      return begin(free, deadline, begun)
    }
  }

  return createServerWrites(options, plans, {
    runAlone: (work, deadline) =>
      begin(pool, deadline, async (client, attemptOptions, epoch) => {
        const attempt = beginAttempt(client, attemptOptions)
        const result = await runWork(attempt, work)
        await committed(attempt, client, outcomes, epoch)
        logged()
        return result
      }),
    runGroup: (writes) =>
      begin(groupPool, latestDeadline(writes), async (client, attemptOptions, epoch) => {
        const attempt = await runTogether(client, writes, attemptOptions)
        await committed(attempt, client, outcomes, epoch)
        logged()
        return attempt.outcomes
      }),
    activity: () => [poolActivity('write', pool), ...(groupPool === pool ? [] : [poolActivity('write_in_turn', groupPool)])],
    waiting: () => pool.waitingCount,
    errors: { isConflict, isLockWait, isConnectionLoss, toApiError },
    failed,
    close: async () => {
      await groupPool.end()
      if (groupPool !== pool) await pool.end()
    },
  })
}

/**
 * Executes a group of writes. Savepoints cost statements and transaction ids that the history does not know, so they are used only after a
 * write has failed.
 * @throws errors that end the transaction, after a rollback
 */
async function runTogether(client: pg.PoolClient, writes: readonly QueuedWrite[], options: AttemptOptions): Promise<PostgresGroup> {
  const rollback = () => client.query('rollback').catch(() => {})
  try {
    const attempt = await runGroup(client, writes, options, false)
    if (attempt !== null) return attempt
    await rollback()
    return (await runGroup(client, writes, options, true))!
  } catch (error) {
    await rollback()
    throw error
  }
}

/** Runs the work of a transaction, rolling back on failure. */
async function runWork<Result>(attempt: Attempt, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
  try {
    const result = await work(attempt.transaction)
    if (attempt.failure() !== null) throw attempt.failure()
    return result
  } catch (error) {
    const failure = attempt.failure()
    await attempt.rollback().catch(() => {})
    throw failure ?? error
  }
}

/** Commits. If the connection is lost, determines the outcome. */
async function committed(
  attempt: Omit<Attempt, 'transaction'>,
  client: pg.PoolClient,
  outcomes: PostgresCommitOutcomes,
  epoch: string,
): Promise<void> {
  const before = attempt.failure()
  try {
    await attempt.commit()
  } catch (error) {
    if (!isConnectionLoss(error) || before !== null) throw error
    const id = await attempt.id.catch(() => null)
    const outcome = id === null ? 'aborted' : await outcomes.find(id, epoch)
    if (outcome === 'committed') return
    if (outcome === 'aborted') throw error
    throw commitUnknownError(error)
  }
  if (isUnconfirmed(client) && (await outcomes.onceReplicated()) !== 'committed')
    throw unavailableError('The write was committed, but no standby has confirmed it: a failover may lose it. Look whether it is there')
}
