// How connections of a pool are waited for.
import { elapsed } from '../../foundation/runtime/clock.js'
import type { PoolActivity } from '../activity.js'

/** What is counted from the start on. */
export type WaitCounts = Pick<PoolActivity, 'timeouts' | 'waits' | 'waitedSeconds'>

/** The waits of one pool. */
export interface ConnectionWaits {
  /** Counts one wait, however it ends. `work` asks for the connection. */
  count<Connection>(work: () => Promise<Connection>): Promise<Connection>
  counts(): WaitCounts
}

/** Begins to count. `isTimeout`: whether an error says that all connections were in use for too long. */
export function openConnectionWaits(isTimeout: (error: unknown) => boolean): ConnectionWaits {
  let [timeouts, waits, waitedSeconds] = [0, 0, 0]
  return {
    count: async (work) => {
      const started = elapsed()
      waits++
      try {
        return await work()
      } catch (error) {
        if (isTimeout(error)) timeouts++
        throw error
      } finally {
        waitedSeconds += (elapsed() - started) / 1000
      }
    },
    counts: () => ({ timeouts, waits, waitedSeconds }),
  }
}
