// A service's writes on a server, executed concurrently. Conflicts are retried in the write queue; while conflicts are frequent, writes are
// queued from the first attempt on.

import { sql } from 'kysely'
import { elapsed } from '../../foundation/runtime/clock.js'
import type { DatabaseActivity, PlanHandle, PoolActivity, ReplicaActivity, Transaction, WriteDatabase } from '../database.js'
import { outdatedModelError, unavailableError } from '../errors.js'
import { maxWritesInQueue } from '../limits.js'
import type { ReadPlan } from '../plan.js'
import type { ServerReads, WriteOptions } from './connections.js'
import { createGroupCommit, type RunGroup } from './group-commit.js'
import { createConflictMonitor, retryTransaction, type TransactionErrors } from './retry-transaction.js'

/** Executes serializable transactions on a server. */
interface WriteExecution {
  /** A single attempt until `deadline` (`elapsed`). @throws its error, after which nothing is committed */
  runAlone<Result>(work: (transaction: Transaction) => Promise<Result>, deadline: number): Promise<Result>
  /** Executes queued writes, excluding groups of other services. */
  readonly runGroup: RunGroup
  /** True if every write is queued, because locks do not exclude writes on other nodes. */
  readonly isAlwaysGrouped?: boolean
  readonly activity: ServerWrites['activity']
  waiting(): number
  readonly errors: TransactionErrors
  failed(error: Error): void
  close(): Promise<void>
}

export interface ServerWrites extends WriteDatabase {
  activity(): readonly PoolActivity[]
  retriedTransactions(): number
}

/** Number of connections for concurrent transactions. One of several is reserved for the write queue. */
export const maxConcurrent = (connections: number): number => Math.max(1, connections - 1)

/** Prepared plans for reads inside transactions. */
interface RegisteredPlans<Reader> extends Pick<WriteDatabase, 'register' | 'unregister'> {
  readerOf(handle: PlanHandle): Reader
}

export function registerPlans<Reader>(prepare: (plan: ReadPlan) => Reader): RegisteredPlans<Reader> {
  const readers = new Map<number, Reader>()
  let last = 0
  return {
    register: (plan) => ({ id: ++last, plan }),
    unregister: ({ id }) => void readers.delete(id),
    readerOf: ({ id, plan }) => {
      const reader = readers.get(id) ?? prepare(plan)
      readers.set(id, reader)
      return reader
    },
  }
}

export function createServerWrites(
  { writeTimeoutMs: writeTimeout }: WriteOptions,
  { register, unregister }: Pick<WriteDatabase, 'register' | 'unregister'>,
  { runAlone, runGroup, isAlwaysGrouped = false, activity, waiting, errors, failed, close }: WriteExecution,
): ServerWrites {
  let retries = 0
  const repeated = () => void retries++
  const conflicts = createConflictMonitor()
  // A group that timed out waiting for its lock would wait as long again.
  const mayPass = (error: unknown): boolean => errors.isConflict(error) && !errors.isLockWait(error)
  const runQueued = createGroupCommit(runGroup, { queue: maxWritesInQueue, mayPass })

  async function transaction<Result>(work: (transaction: Transaction) => Promise<Result>, change: number | null = null): Promise<Result> {
    if (waiting() >= maxWritesInQueue) throw unavailableError('Too many writes are waiting')
    const deadline = elapsed() + writeTimeout
    return checkingModel(change, work, (checkedWork) => {
      const run = (isQueued: boolean) => (isQueued || isAlwaysGrouped ? runQueued(checkedWork, deadline) : runAlone(checkedWork, deadline))
      return retryTransaction(run, deadline, { ...errors, conflicts, failed, repeated })
    })
  }

  return {
    transaction,
    run: (query) =>
      transaction(async ({ history, follow }) => {
        history.writesOneDocumentOnly()
        follow(query)
      }),
    register,
    unregister,
    activity,
    retriedTransactions: () => retries,
    close,
  }
}

type RunTransaction<Result> = (work: (transaction: Transaction) => Promise<Result>) => Promise<Result>

/**
 * Adds a check to a transaction that no model change that moves content is later than `change` or in progress; null: no check. The check
 * runs concurrently with `work`.
 * @throws ApiError 503 if it fails, with nothing written
 */
async function checkingModel<Result>(
  change: number | null,
  work: (transaction: Transaction) => Promise<Result>,
  transact: RunTransaction<Result>,
): Promise<Result> {
  if (change === null) return transact(work)
  let isOutdated = false
  const run = async (transaction: Transaction): Promise<Result> => {
    isOutdated = false
    const found = transaction.rows(sql`select id from octavo_model_history where id > ${change} and moves = 1 limit 1`)
    const look = found.then(([row]) => {
      isOutdated = row !== undefined
      if (isOutdated) throw outdatedModelError()
    })
    look.catch(() => {})
    const result = await work(transaction).catch(async (error: unknown) => {
      await look.catch(() => {})
      throw error
    })
    await transaction.defer(look)
    return result
  }
  return transact(run).catch((error: unknown) => {
    // Statements may have failed for the same reason.
    throw isOutdated ? outdatedModelError() : error
  })
}

/** `main`: the pool for small statements. */
export const serverActivity = (
  main: PoolActivity,
  reads: ServerReads,
  writes: ServerWrites,
  replicas: ReplicaActivity | null,
): DatabaseActivity => ({
  replicas,
  pools: [main, reads.activity(), ...writes.activity()],
  retriedTransactions: writes.retriedTransactions(),
  walBytes: null,
})
