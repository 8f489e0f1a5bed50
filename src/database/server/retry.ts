// Runs again what can be run again: when its connection was lost, as all connections of a pool may be after a restart of the server, and
// when a table was changed under a snapshot.
import type { ApiError } from '../../foundation/errors/errors.js'

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
