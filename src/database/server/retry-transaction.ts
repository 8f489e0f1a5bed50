// Transactions that are run again: after a conflict in turn with others that conflicted, after a loss on another connection. While many
// conflict, they take turns from the start.

import type { ApiError } from '../../foundation/errors/errors.js'
import { elapsed, pause } from '../../foundation/runtime/clock.js'

/** Outcome of a commit whose acknowledgement was lost. */
export type CommitOutcome = 'committed' | 'aborted' | 'unknown'

/** Classifies transaction errors. */
export interface TransactionErrors {
  /** The transaction conflicted with another one and may succeed when it is run again. */
  isConflict(error: unknown): boolean
  /** A lock timeout. Grouping the transaction would make others wait too. */
  isLockWait(error: unknown): boolean
  isConnectionLoss(error: unknown): boolean
  /** The error as callers get it. */
  toApiError(error: unknown): unknown
}

/** Options of a retry. */
export interface RetryOptions extends TransactionErrors {
  readonly conflicts: ConflictMonitor
  /** Receives losses of connections. */
  failed(error: Error): void
  /** The transaction is begun again. */
  repeated(): void
}

/** Milliseconds to wait after the first conflict, and at most. */
const firstPauseMs = 2
const maxPauseMs = 100

/** Times that a transaction is begun again because its connection was lost. */
const maxLosses = 2

/** Tries until nothing conflicts, or the time is over (`elapsed`). What conflicted takes its turn with others that did, unless it waited for a lock. */
export async function retryTransaction<Result>(
  run: (inTurn: boolean) => Promise<Result>,
  deadline: number,
  { conflicts, isConflict, isLockWait, isConnectionLoss, toApiError, failed, repeated }: RetryOptions,
): Promise<Result> {
  let inTurn = conflicts.areLikely()
  let losses = 0
  for (let attempt = 1; ; attempt++) {
    try {
      const result = await run(inTurn)
      conflicts.ended()
      return result
    } catch (error) {
      const wait = Math.min(maxPauseMs, firstPauseMs * 2 ** attempt) * (0.5 + Math.random())
      const isLost = isConnectionLoss(error)
      const hasConflicted = isConflict(error)
      const hasWaited = isLockWait(error)
      if (isLost) failed(error as Error)
      if (hasConflicted && !hasWaited) conflicts.happened()
      const mayPass = hasConflicted || (isLost && losses++ < maxLosses)
      if (!mayPass || elapsed() + wait > deadline) throw toApiError(error)
      repeated()
      await pause(wait)
      if (hasConflicted) inTurn = !hasWaited
    }
  }
}

/** Monitors the recent rate of conflicts. */
export interface ConflictMonitor {
  happened(): void
  /** A transaction was committed. */
  ended(): void
  /** Whether transactions are grouped from their first attempt on. With few conflicts they run concurrently. */
  areLikely(): boolean
}

/** The increase of the likelihood by a conflict, and its decay by a commit. */
const conflictStep = 0.2
const decay = 0.99

/**
 * Grouping starts at the first likelihood and ends below the second. A concurrent write outside of the group makes the group start again.
 */
const serializeFrom = 0.3
const serializeUntil = 0.03

export function createConflictMonitor(): ConflictMonitor {
  let likelihood = 0
  let areLikely = false
  return {
    happened: () => {
      likelihood = Math.min(1, likelihood + conflictStep)
      areLikely ||= likelihood >= serializeFrom
    },
    ended: () => {
      likelihood *= decay
      areLikely &&= likelihood > serializeUntil
    },
    areLikely: () => areLikely,
  }
}

/** Times that something is tried, each on another connection, before its caller learns that connections are lost. */
const tries = 3

/** Times that what conflicts is tried; each change of a table, an index that is made included, costs one. */
const maxConflicts = 20

const never = () => false

const notOver = () => null

/** Tries something that may be tried again. `isOver`: why no further try is of use; null: one is. @throws that, or the last error */
export type Retry = <Result>(work: () => Promise<Result>, isOver?: () => ApiError | null) => Promise<Result>

/** Classifies errors of a driver. */
export interface LossErrors {
  /** The connection is gone or could not be made, or the server does not serve: nothing of an uncommitted transaction is left. */
  isConnectionLoss(error: unknown): boolean
  /** No response in time: a retry may take as long. */
  isTimeout(error: unknown): boolean
  /** It conflicted with something that others do, and may succeed at once; absent: nothing conflicts. */
  isConflict?(error: unknown): boolean
}

/** `failed` receives every loss. */
export const lossRetrier =
  ({ isConnectionLoss, isTimeout, isConflict = never }: LossErrors, failed: (error: Error) => void): Retry =>
  async (work, isOver = notOver) => {
    for (let losses = 0, conflicts = 0; ; ) {
      try {
        return await work()
      } catch (error) {
        const isLost = isConnectionLoss(error)
        if (!isLost && !isConflict(error)) throw error
        if (isLost) failed(error as Error)
        const over = isOver()
        if (over !== null) throw over
        if (isLost ? ++losses === tries || isTimeout(error) : ++conflicts === maxConflicts) throw error
      }
    }
  }
