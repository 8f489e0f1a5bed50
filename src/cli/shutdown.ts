// How the process of a service ends: by a signal, with time for what is under way, by a second one at once, or by an error that
// nobody caught.
import type { Worker } from 'node:worker_threads'
import type { Log } from '../runtime/log.js'
import { openFailureLog } from '../runtime/repeated-failures.js'

/** What is ended, and the time it has. */
export interface Shutdown {
  /**
   * Says what a signal closes from now on, and how many milliseconds it has; before that, a signal ends the process at once. SIGINT comes
   * from somebody at a terminal: no balancer is waited for.
   */
  serves(close: Close, times: Times): void
  /** Ends the process with this status, when the log is written or does not take any more. */
  leave(status: number): Promise<never>
}

/** Closes a service, after it has served on for so many milliseconds. */
type Close = (delay: number) => Promise<void>
interface Times {
  readonly drainDelay: number
  readonly drainTimeout: number
}

/** Milliseconds that the log and the threads have to come to an end when the process leaves. */
const lastMoment = 700

/** Takes over the signals and uncaught errors of this process. */
export function watchShutdown({ logger, flush: settle }: Log): Shutdown {
  const threads = new Set<Worker>()
  process.on('worker', (worker) => {
    threads.add(worker)
    worker.once('exit', () => threads.delete(worker))
  })
  let service: { readonly close: Close; readonly times: Times } | null = null
  let stopping = false

  async function leave(status: number): Promise<never> {
    // That they end now is no failure of theirs.
    const ended = Promise.all([...threads].map((thread) => thread.removeAllListeners('exit').terminate()))
    const [log, free] = await Promise.all([settle(lastMoment), within(lastMoment, ended)])
    // `exit` waits for threads, and for a write from which the system does not return.
    if (log === 'blocked' || !free) process.kill(process.pid, 'SIGKILL')
    process.exit(status)
  }

  async function stop(status: number, waits: boolean): Promise<void> {
    if (service === null) return leave(status)
    const { close, times } = service
    const delay = waits ? times.drainDelay : 0
    const deadline = setTimeout(() => {
      logger.error('what was under way did not end in time')
      leave(1)
    }, delay + times.drainTimeout)
    deadline.unref()
    try {
      await close(delay)
    } catch (error) {
      logger.error({ err: error }, 'the service did not close as it should')
      return leave(1)
    }
    return leave(status)
  }

  const interrupted = { SIGTERM: 143, SIGINT: 130 }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping) return leave(1)
      stopping = true
      logger.info({ signal }, 'stopping')
      return stop(service === null ? interrupted[signal] : 0, signal === 'SIGTERM')
    })
  }
  const { report } = openFailureLog(logger)
  // A promise that a hook or a listener did not wait for: its failure is not the service's.
  process.on('unhandledRejection', (reason) => report(reason, 'a promise was rejected, and nobody waited for it'))
  process.on('uncaughtException', (error) => {
    logger.fatal({ err: error }, 'an error that nobody caught: the service stops')
    if (stopping) return
    stopping = true
    stop(1, false)
  })
  return {
    serves: (close, times) => {
      service = { close, times }
    },
    leave,
  }
}

/** Whether a promise is fulfilled within so many milliseconds. */
async function within(milliseconds: number, promise: Promise<unknown>): Promise<boolean> {
  const late = new Promise<boolean>((resolve) => setTimeout(resolve, milliseconds, false).unref())
  return Promise.race([promise.then(() => true), late])
}
