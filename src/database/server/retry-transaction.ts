// Transactions that are run again: after a conflict in turn with others that conflicted, after a loss on another connection. While many
// conflict, they take turns from the start.

import type { ApiError } from '../../foundation/errors/errors.js'
import { elapsed, pause } from '../../foundation/runtime/clock.js'

/** What became of a transaction whose commit was not answered. */
export type CommitOutcome = 'committed' | 'aborted' | 'unknown'

/** What the errors of a transaction mean. */
export interface TransactionErrors {
  /** The transaction conflicted with another one and may succeed when it is run again. */
  isConflict(error: unknown): boolean
  /** A conflict: somebody held a lock for too long. Others would wait behind the transaction if it took its turn. */
  isLockWait(error: unknown): boolean
  isConnectionLoss(error: unknown): boolean
  /** The error as callers get it. */
  explained(error: unknown): unknown
}

/** What is done with a transaction that failed. */
export interface Retrying extends TransactionErrors {
  readonly conflicts: Conflicts
  /** Receives losses of connections. */
  failed(error: Error): void
  /** The transaction is begun again. */
  repeated(): void
}

/** Milliseconds to wait after the first conflict, and at most. */
const [firstPause, longestPause] = [2, 100]

/** Times that a transaction is begun again because its connection was lost. */
const repeats = 2

/** Tries until nothing conflicts, or the time is over (`elapsed`). What conflicted takes its turn with others that did, unless it waited for a lock. */
export async function retried<Result>(
  run: (inTurn: boolean) => Promise<Result>,
  deadline: number,
  { conflicts, isConflict, isLockWait, isConnectionLoss, explained, failed, repeated }: Retrying,
): Promise<Result> {
  let [inTurn, losses] = [conflicts.areLikely(), 0]
  for (let tries = 1; ; tries++) {
    try {
      const result = await run(inTurn)
      conflicts.ended()
      return result
    } catch (error) {
      const wait = Math.min(longestPause, firstPause * 2 ** tries) * (0.5 + Math.random())
      const isLost = isConnectionLoss(error)
      const hasConflicted = isConflict(error)
      const hasWaited = isLockWait(error)
      if (isLost) failed(error as Error)
      if (hasConflicted && !hasWaited) conflicts.happened()
      const mayPass = hasConflicted || (isLost && losses++ < repeats)
      if (!mayPass || elapsed() + wait > deadline) throw explained(error)
      repeated()
      await pause(wait)
      if (hasConflicted) inTurn = !hasWaited
    }
  }
}

/** How often transactions conflicted lately. */
export interface Conflicts {
  happened(): void
  /** A transaction was committed. */
  ended(): void
  /** Whether a transaction takes its turn from the start. Where conflicts are rare, all begin at once. */
  areLikely(): boolean
}

/** How much one conflict adds to the likelihood of the next, and how much of it a commit leaves. */
const [heating, cooling] = [0.2, 0.99]

/** From which likelihood on transactions take turns, and down to which. One that is not in turn makes those that are begin again. */
const [likely, unlikely] = [0.3, 0.03]

export function openConflicts(): Conflicts {
  let likelihood = 0
  let areLikely = false
  return {
    happened: () => {
      likelihood = Math.min(1, likelihood + heating)
      areLikely ||= likelihood >= likely
    },
    ended: () => {
      likelihood *= cooling
      areLikely &&= likelihood > unlikely
    },
    areLikely: () => areLikely,
  }
}

/** Times that something is tried, each on another connection, before its caller learns that connections are lost. */
const tries = 3

/** Times that what conflicts is tried; each change of a table, an index that is made included, costs one. */
const conflictTries = 20

const never = () => false

const notOver = () => null

/** Tries something that may be tried again. `isOver`: why no further try is of use; null: one is. @throws that, or the last error */
export type Retried = <Result>(work: () => Promise<Result>, isOver?: () => ApiError | null) => Promise<Result>

/** What the errors of a driver mean. */
export interface LossErrors {
  /** The connection is gone or could not be made, or the server does not serve: nothing of an uncommitted transaction is left. */
  isConnectionLoss(error: unknown): boolean
  /** Nobody answered in time: another try may take as long. */
  isTimeout(error: unknown): boolean
  /** It conflicted with something that others do, and may succeed at once; absent: nothing conflicts. */
  isConflict?(error: unknown): boolean
}

/** `failed` receives every loss. */
export const lossRetrier =
  ({ isConnectionLoss, isTimeout, isConflict = never }: LossErrors, failed: (error: Error) => void): Retried =>
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
        if (isLost ? ++losses === tries || isTimeout(error) : ++conflicts === conflictTries) throw error
      }
    }
  }
