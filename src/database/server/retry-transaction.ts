// Retries transactions: in the write queue after a conflict, on another connection after a connection loss. While conflicts are frequent,
// transactions are queued from the first attempt on.

import type { ApiError } from '../../foundation/errors/errors.js'
import { elapsed, pause } from '../../foundation/runtime/clock.js'

/** Outcome of a commit whose acknowledgement was lost. */
export type CommitOutcome = 'committed' | 'aborted' | 'unknown'

export interface TransactionErrors {
  /** The transaction conflicted with another one, and a retry may succeed. */
  isConflict(error: unknown): boolean
  /** A lock timeout. In the write queue, the transaction would make others wait, too. */
  isLockWait(error: unknown): boolean
  isConnectionLoss(error: unknown): boolean
  toApiError(error: unknown): unknown
}

interface RetryOptions extends TransactionErrors {
  readonly conflicts: ConflictMonitor
  failed(error: Error): void
  repeated(): void
}

/** Base and maximum of the backoff, in milliseconds. */
const firstPauseMs = 2
const maxPauseMs = 100

const maxLosses = 2

/** Retries until there is no conflict or the deadline (`elapsed`) has passed: in the queue, unless the conflict was a lock timeout. */
export async function retryTransaction<Result>(
  run: (isQueued: boolean) => Promise<Result>,
  deadline: number,
  { conflicts, isConflict, isLockWait, isConnectionLoss, toApiError, failed, repeated }: RetryOptions,
): Promise<Result> {
  let isQueued = conflicts.areLikely()
  let losses = 0
  for (let attempt = 1; ; attempt++) {
    try {
      const result = await run(isQueued)
      conflicts.ended()
      return result
    } catch (error) {
      const wait = Math.min(maxPauseMs, firstPauseMs * 2 ** attempt) * (0.5 + Math.random())
      const isLost = isConnectionLoss(error)
      const hasConflicted = isConflict(error)
      const hasWaited = isLockWait(error)
      if (isLost) failed(error as Error)
      if (hasConflicted && !hasWaited) conflicts.happened()
      const mayRetry = hasConflicted || (isLost && losses++ < maxLosses)
      if (!mayRetry || elapsed() + wait > deadline) throw toApiError(error)
      repeated()
      await pause(wait)
      if (hasConflicted) isQueued = !hasWaited
    }
  }
}

interface ConflictMonitor {
  happened(): void
  ended(): void
  /** Whether transactions are queued from the first attempt on. With few conflicts they run concurrently. */
  areLikely(): boolean
}

/** Increment of the likelihood per conflict, and its decay per commit. */
const conflictStep = 0.2
const decay = 0.99

/** Queueing starts at the first likelihood and ends below the second: a concurrent write outside the queue makes the whole group retry. */
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

/** Maximum attempts, each on another connection, before a connection loss is reported. */
const maxAttempts = 3

/** Maximum attempts after conflicts. Each schema change, such as a created index, costs one. */
const maxConflicts = 20

const never = () => false

const notOver = () => null

/** Retries `work`. `isOver` returns the error that makes a retry pointless, or null. @throws that error, or the last one */
export type Retry = <Result>(work: () => Promise<Result>, isOver?: () => ApiError | null) => Promise<Result>

interface LossErrors {
  /** The connection is lost or could not be opened, or the server refuses to serve. Uncommitted transactions are rolled back. */
  isConnectionLoss(error: unknown): boolean
  /** Timed out: a retry may take as long. */
  isTimeout(error: unknown): boolean
  /** A conflict with a concurrent operation: an immediate retry may succeed. Absent: there are none. */
  isConflict?(error: unknown): boolean
}

/** `failed` is called on each connection loss. */
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
        if (isLost ? ++losses === maxAttempts || isTimeout(error) : ++conflicts === maxConflicts) throw error
      }
    }
  }
