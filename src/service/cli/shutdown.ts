// Ends the process of a service: gracefully after a first signal, immediately after a second one, and after an uncaught error.
import type { Worker } from 'node:worker_threads'
import type { Log } from '../../foundation/runtime/log.js'
import { type RunningCode, runningCode } from '../../foundation/runtime/project-code.js'
import { openFailureLog } from '../../foundation/runtime/throttled-logs.js'

export interface Shutdown {
  /**
   * Registers the function that signals call from now on, with its time limits; until then, a signal ends the process immediately. SIGINT
   * comes from a terminal, so it skips the delay for load balancers.
   */
  serves(close: Close, times: Times): void
  /**
   * Ends the process like a signal, unless it is ending already; called for the main process. `waits`: for load balancers; `isReplaced`:
   * another process listens on the same port.
   */
  end(waits: boolean, isReplaced: boolean): void
  /** Ends the process with this status once the log is written or its output is blocked. */
  leave(status: number): Promise<never>
}

/** Serves for `delay` milliseconds, then closes. `isReplaced`: another process listens on the same port. */
type Close = (delay: number, isReplaced: boolean) => Promise<void>
interface Times {
  readonly drainDelay: number
  readonly drainTimeout: number
}

/** Milliseconds for the log and the threads to end on exit. */
const exitTimeout = 700

/** Exit statuses of a process that a signal ended before it served. */
const interrupted = { SIGTERM: 143, SIGINT: 130 }

/** Handles signals and uncaught errors of this process. `level`: that of the message about a signal, which is news only to operators. */
export function watchShutdown({ logger, flush }: Log, level: 'info' | 'debug' = 'info'): Shutdown {
  const leave = createLeave(flush)
  let service: { readonly close: Close; readonly times: Times } | null = null
  let stopping = false
  /** The main process requested the end, and no signal has arrived yet: one sent to all processes may follow. */
  let isAsked = false

  async function stop(status: number, waits: boolean, isReplaced = false): Promise<void> {
    if (service === null) return leave(status)
    const { close, times } = service
    const delay = waits ? times.drainDelay : 0
    const deadline = setTimeout(() => {
      logger.error('shutdown timed out: some requests or tasks were still running')
      leave(1)
    }, delay + times.drainTimeout)
    deadline.unref()
    try {
      await close(delay, isReplaced)
    } catch (error) {
      logger.error({ err: error }, 'the service did not close cleanly')
      return leave(1)
    }
    return leave(status)
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (isAsked) {
        isAsked = false
        return
      }
      if (stopping) return leave(1)
      stopping = true
      logger[level]({ signal }, 'stopping')
      return stop(service === null ? interrupted[signal] : 0, signal === 'SIGTERM')
    })
  }
  watchFailures(logger, () => {
    if (stopping) return
    stopping = true
    stop(1, false)
  })
  return {
    serves: (close, times) => {
      service = { close, times }
    },
    end: (waits, isReplaced) => {
      if (stopping) return
      stopping = isAsked = true
      logger[level]({ isReplaced }, 'stopping')
      stop(0, waits, isReplaced)
    },
    leave,
  }
}

/** Creates the function that ends the process once the log is written or its output is blocked. */
function createLeave(flush: Log['flush']): Shutdown['leave'] {
  const endThreads = trackThreads()
  return async (status) => {
    const [log, free] = await Promise.all([flush(exitTimeout), within(exitTimeout, endThreads())])
    // `exit` waits for threads and blocked writes, so such a process is killed.
    if (log === 'blocked' || !free) process.kill(process.pid, 'SIGKILL')
    process.exit(status)
  }
}

/** Logs uncaught errors of project code. `uncaught` is called after an exception, whose consequences are unknown. */
function watchFailures(logger: Log['logger'], uncaught: () => void): void {
  const { report } = openFailureLog(logger)
  // A hook or listener did not await a promise; the service is not affected.
  process.on('unhandledRejection', (reason) => {
    const code = runningCode()
    report(reason, `unhandled promise rejection${describeCode(code)}`, code?.requestId ?? undefined)
  })
  // The interrupted work is unknown, so the service finishes open requests and ends.
  process.on('uncaughtException', (error) => {
    const code = runningCode()
    const requestId = code?.requestId ?? undefined
    logger.fatal({ err: error, requestId }, `uncaught exception${describeCode(code)}; the service stops`)
    uncaught()
  })
}

/** Names the project code that caused an error, if Node knows it. */
const describeCode = (code: RunningCode | null): string => (code === null ? '' : ` in ${code.name}`)

/** Tracks the threads of this process; returns a function that terminates them. */
function trackThreads(): () => Promise<unknown> {
  const threads = new Set<Worker>()
  process.on('worker', (worker) => {
    threads.add(worker)
    worker.once('exit', () => threads.delete(worker))
  })
  // Their exit is expected, so it is not reported as a failure.
  return () => Promise.all([...threads].map((thread) => thread.removeAllListeners('exit').terminate()))
}

/** True if the promise is fulfilled within the time limit. */
async function within(milliseconds: number, promise: Promise<unknown>): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => setTimeout(resolve, milliseconds, false).unref())
  return Promise.race([promise.then(() => true), late])
}
