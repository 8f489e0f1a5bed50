// Shutdown: closing in reverse order, leaving a shared port, and stopping work that writes files.

import { setTimeout as pause } from 'node:timers/promises'
import { ConfigError } from '../errors/errors.js'

/** Resources that are closed in reverse order. */
export interface Closers {
  /** Registers a function that closes a resource; the server first continues to serve for `delay` milliseconds. */
  add(close: (delay: number) => unknown): void
  /** Closes all, the last first. @throws the first failure, after all others are closed */
  close(delay: number): Promise<void>
}

export function openClosers(): Closers {
  const closers: ((delay: number) => unknown)[] = []
  let closing: Promise<void> | null = null

  async function closeAll(delay: number): Promise<void> {
    const failures: unknown[] = []
    for (const close of closers.toReversed()) {
      try {
        await close(delay)
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  return {
    add: (close) => void closers.push(close),
    close: (delay) => {
      closing ??= closeAll(delay)
      return closing
    },
  }
}

type Ask = () => Promise<void>
let ask: Ask | null = null

/** Sets what a process of several does before it stops listening. */
export function askBeforeLeavingPort(asking: Ask): void {
  ask = asking
}

/** Resolves when this process may stop listening without a connection being lost; in a process that has the port for itself, at once. */
export const leavePort = async (): Promise<void> => ask?.()

/** Work that can be stopped. */
interface StoppableWork {
  /** Runs `work`, which calls `look` regularly. If it fails or is stopped, its files are removed. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
  /** Ends the work by an error, if it was stopped. */
  look(): void
  /** Stops the work and removes its files. The process ends afterwards. */
  stop(): Promise<void>
}

/** Milliseconds to wait for the work to look. */
const patience = 3_000

/** `remove`: removes the files of the work; called after its end. */
export function stoppableWork(remove: () => Promise<void>): StoppableWork {
  let isStopped = false
  let running: Promise<unknown> = Promise.resolve()
  return {
    run: async (work) => {
      const result = work()
      running = result.catch(() => {})
      // `stop` removes the files, and the process ends.
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
