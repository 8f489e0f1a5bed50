// The writes of a service on a server, many at a time. One that conflicts with another is run again, in turn with others that conflicted;
// while many conflict, they take turns from the start.
import { elapsed } from '../../foundation/runtime/clock.js'
import type { PoolActivity } from '../activity.js'
import type { PlanHandle, Transaction, WriteDatabase } from '../database.js'
import type { ReadPlan } from '../plan.js'
import { unavailable } from '../unavailable.js'
import { openConflicts, retried, type TransactionErrors } from './attempts.js'
import { onModel } from './model-writes.js'
import type { WriteOptions } from './options.js'
import { openTurns, type RunTogether } from './turns.js'

/** How a server's transactions are executed; all are serializable. */
export interface WriteExecution {
  /** One try, until `deadline` (`elapsed`). @throws what made it fail; nothing is committed then */
  alone<Result>(work: (transaction: Transaction) => Promise<Result>, deadline: number): Promise<Result>
  /** Excludes others of the same kind, also those of other services. */
  readonly together: RunTogether
  /** Nothing is executed alone: what is locked would not exclude what others do. */
  readonly isAlwaysTogether?: boolean
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
export const aloneOf = (connections: number): number => Math.max(1, connections - 1)

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

export function openServerWrites(
  { writeQueue, writeTimeout }: WriteOptions,
  { register, unregister }: Pick<WriteDatabase, 'register' | 'unregister'>,
  { alone, together, isAlwaysTogether = false, activity, waiting, errors, failed, close }: WriteExecution,
): ServerWrites {
  let retries = 0
  const repeated = () => void retries++
  const conflicts = openConflicts()
  // Where the turn itself is not to be had, another try in turn may wait as long.
  const mayPass = (error: unknown): boolean => errors.isConflict(error) && !errors.isLockWait(error)
  const inTurn = openTurns(together, { queue: writeQueue, mayPass })

  async function transaction<Result>(asked: (transaction: Transaction) => Promise<Result>, change: number | null = null): Promise<Result> {
    if (waiting() >= writeQueue) throw unavailable('Too many writes are waiting')
    const deadline = elapsed() + writeTimeout
    return onModel(change, asked, (work) => {
      const run = (isInTurn: boolean) => (isInTurn || isAlwaysTogether ? inTurn(work, deadline) : alone(work, deadline))
      return retried(run, deadline, { ...errors, conflicts, failed, repeated })
    })
  }

  return {
    transaction,
    run: (query) =>
      transaction(async ({ history, follow }) => {
        history.touchesOneDocument()
        follow(query)
      }),
    register,
    unregister,
    activity,
    retriedTransactions: () => retries,
    close,
  }
}
