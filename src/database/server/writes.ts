// The writes of a service on a server, many at a time. One that conflicts with another is run again, in turn with others that conflicted;
// while many conflict, they take turns from the start.

import { sql } from 'kysely'
import { elapsed } from '../../foundation/runtime/clock.js'
import type { DatabaseActivity, PlanHandle, PoolActivity, ReplicaActivity, Transaction, WriteDatabase } from '../database.js'
import { outdatedModelError, unavailableError } from '../errors.js'
import type { ReadPlan } from '../plan.js'
import type { ServerReads, WriteOptions } from './connections.js'
import { createGroupCommit, type RunGroup } from './group-commit.js'
import { createConflictMonitor, retryTransaction, type TransactionErrors } from './retry-transaction.js'

/** Execution of a server's serializable transactions. */
export interface WriteExecution {
  /** One try, until `deadline` (`elapsed`). @throws what made it fail; nothing is committed then */
  runAlone<Result>(work: (transaction: Transaction) => Promise<Result>, deadline: number): Promise<Result>
  /** Excludes others of the same kind, also those of other services. */
  readonly runGroup: RunGroup
  /** Every write is grouped, since locks do not exclude writes on other nodes. */
  readonly isAlwaysGrouped?: boolean
  readonly activity: ServerWrites['activity']
  /** Transactions that wait for a connection. */
  waiting(): number
  readonly errors: TransactionErrors
  /** Receives losses of connections. */
  failed(error: Error): void
  close(): Promise<void>
}

/** The writes of a server. */
export interface ServerWrites extends WriteDatabase {
  activity(): readonly PoolActivity[]
  /** Transactions that were begun again. */
  retriedTransactions(): number
}

/** Of the connections for writes, those that one transaction alone may take; writes in turn keep one, where there are two. */
export const maxConcurrent = (connections: number): number => Math.max(1, connections - 1)

/** Plans as a driver reads them inside of transactions, by their handles. */
export interface RegisteredPlans<Reader> extends Pick<WriteDatabase, 'register' | 'unregister'> {
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
  { writeQueue, writeTimeoutMs: writeTimeout }: WriteOptions,
  { register, unregister }: Pick<WriteDatabase, 'register' | 'unregister'>,
  {
    runAlone: alone,
    runGroup: together,
    isAlwaysGrouped: isAlwaysTogether = false,
    activity,
    waiting,
    errors,
    failed,
    close,
  }: WriteExecution,
): ServerWrites {
  let retries = 0
  const repeated = () => void retries++
  const conflicts = createConflictMonitor()
  // If the group's lock is unavailable, another attempt may wait as long.
  const mayPass = (error: unknown): boolean => errors.isConflict(error) && !errors.isLockWait(error)
  const inTurn = createGroupCommit(together, { queue: writeQueue, mayPass })

  async function transaction<Result>(asked: (transaction: Transaction) => Promise<Result>, change: number | null = null): Promise<Result> {
    if (waiting() >= writeQueue) throw unavailableError('Too many writes are waiting')
    const deadline = elapsed() + writeTimeout
    return checkingModel(change, asked, (work) => {
      const run = (isInTurn: boolean) => (isInTurn || isAlwaysTogether ? inTurn(work, deadline) : alone(work, deadline))
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

/** Runs a transaction, possibly several times. */
type RunTransaction<Result> = (work: (transaction: Transaction) => Promise<Result>) => Promise<Result>

/**
 * Runs a transaction that looks first whether a change of the model which moves content follows `change`, or is under way; null: it does
 * not look. It goes on without waiting for that. @throws ApiError 503 if so; nothing is written then
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

/** `main`: the connections for small statements. */
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
