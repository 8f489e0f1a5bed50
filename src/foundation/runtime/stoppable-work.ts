// Work that writes files and is stopped when its process is told to end: what it has written is removed once it writes no more.
import { setTimeout as pause } from 'node:timers/promises'
import { ConfigError } from '../errors/errors.js'

/** Work that can be stopped. */
export interface StoppableWork {
  /** Runs `work`, which calls `look` now and then. If it fails, or is stopped, what it has written is removed. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
  /** Ends the work by an error, if it was stopped. */
  look(): void
  /** Stops the work and removes what it has written. The process ends afterwards. */
  stop(): Promise<void>
}

/** Milliseconds to wait for the work to look. */
const patience = 3_000

/** `remove`: removes what the work has written; called once it has ended. */
export function stoppableWork(remove: () => Promise<void>): StoppableWork {
  let isStopped = false
  let running: Promise<unknown> = Promise.resolve()
  return {
    run: async (work) => {
      const result = work()
      running = result.catch(() => {})
      // Whoever stopped it removes what it has written, and ends the process.
      const never = () => new Promise<never>(() => {})
      try {
        const done = await result
        return isStopped ? await never() : done
      } catch (error) {
        if (isStopped) return never()
        await remove()
        throw error
      }
    },
    look: () => {
      if (isStopped) throw new ConfigError('Interrupted')
    },
    stop: async () => {
      isStopped = true
      await Promise.race([running, pause(patience, undefined, { ref: false })])
      await remove()
    },
  }
}
