// Signals of commands: SIGHUP, interruption with cleanup, the first process of a container, and the end of the parent process.
import { isatty } from 'node:tty'

const exitStatuses = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

export interface Hangup {
  /** Replaces the handlers: `closed` if the terminal of this process was closed, `sent` if the process has no terminal. */
  does(closed: () => void, sent: () => void): void
}

/** Handles SIGHUP, which would otherwise end the process at once. Until `does` is called, a closed terminal ends the process. */
export function watchHangup(): Hangup {
  // Output may be redirected to a file or a pipe; nohup redirects all three.
  const isInTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor))
  let closed = (): void => process.exit(exitStatuses.SIGHUP)
  let sent = (): void => {}
  process.on('SIGHUP', () => (isInTerminal ? closed() : sent()))
  return {
    does: (whenClosed, whenSent) => {
      closed = whenClosed
      sent = whenSent
    },
  }
}

/** Ignores SIGHUP in a child process, which the command ends itself. */
export const leaveHangupToStarter = (): void => void process.on('SIGHUP', () => {})

/**
 * Ends process 1 on SIGTERM and SIGINT until other handlers are registered: the kernel drops unhandled signals of process 1, so one during
 * the start would be lost.
 */
export function endAsFirstProcess(): void {
  if (process.pid !== 1) return
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(exitStatuses[signal])
    })
  }
}

interface Interruption {
  /** Sets the cleanup that runs before the process ends. */
  undoes(undo: () => Promise<void>): void
  /** Restores the default handling of signals. */
  end(): void
}

/** Handles the signals that end a process. */
export function watchInterruption(): Interruption {
  let undo: (() => Promise<void>) | null = null
  let status: number | null = null
  const leave = (): void => {
    if (undo === null || status === null) return
    process.stderr.write('octavo: interrupted\n')
    const code = status
    void undo().finally(() => process.exit(code))
  }
  const stops = Object.entries(exitStatuses).map(([signal, code]) => {
    const interrupted = (): void => {
      status = code
      leave()
    }
    process.once(signal, interrupted)
    return () => process.off(signal, interrupted)
  })
  return {
    undoes: (given) => {
      undo = given
      leave()
    },
    end: () => {
      for (const stop of stops) stop()
    },
  }
}

const parentPollMs = 500

/** Calls `gone` when the package manager's shell that started this process has ended. No effect in other processes. */
export function endWithParent(gone: () => void): void {
  if (process.env.npm_execpath === undefined && process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    gone()
  }, parentPollMs)
  timer.unref()
}
