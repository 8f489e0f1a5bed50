// Runs again what can be run again when its connection was lost: after a restart of the server all connections of a pool may be.
import type { ApiError } from '../../errors/errors.js'

/** Times that something is tried, each on another connection, before its caller learns that connections are lost. */
const tries = 3

const never = () => null

/** Tries something that may be tried again. `isOver`: why no further try is of use; null: one is. @throws that, or the last error */
export type Retried = <Result>(work: () => Promise<Result>, isOver?: () => ApiError | null) => Promise<Result>

/** What the errors of a driver mean. */
export interface LossErrors {
  /** The connection is gone or could not be made, or the server does not serve: nothing of an uncommitted transaction is left. */
  isConnectionLoss(error: unknown): boolean
  /** Nobody answered in time: another try may take as long. */
  isTimeout(error: unknown): boolean
}

/** `failed` receives every loss. */
export const lossRetrier =
  ({ isConnectionLoss, isTimeout }: LossErrors, failed: (error: Error) => void): Retried =>
  async (work, isOver = never) => {
    for (let left = tries - 1; ; left--) {
      try {
        return await work()
      } catch (error) {
        if (!isConnectionLoss(error)) throw error
        failed(error as Error)
        const over = isOver()
        if (over !== null) throw over
        if (left === 0 || isTimeout(error)) throw error
      }
    }
  }
