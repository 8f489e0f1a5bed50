// What SIGHUP does to a command that serves: where a terminal was closed it ends the command, and otherwise it never does.
import { isatty } from 'node:tty'

/** Decides what SIGHUP does. */
export interface Hangup {
  /** Sets what it does from now on: `closed` where the terminal of this process was closed, `sent` where there is none and somebody has sent it. */
  does(closed: () => void, sent: () => void): void
}

/** The status of a command that ends because its terminal was closed before it served. */
const status = 129

/**
 * Takes over SIGHUP, which would otherwise end the process at once and count as a clean end with service managers. Until it is set what it
 * does, it ends the process only where its terminal was closed.
 */
export function watchHangup(): Hangup {
  // Not only the output, which may go to a file or a pipe; nohup replaces all three.
  const isInTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor))
  let closed = (): void => process.exit(status)
  let sent = (): void => {}
  process.on('SIGHUP', () => (isInTerminal ? closed() : sent()))
  return {
    does: (whenClosed, whenSent) => {
      closed = whenClosed
      sent = whenSent
    },
  }
}

/** Has SIGHUP do nothing in a process that the command has started: the command ends it, or is gone and has taken it along. */
export const leaveHangupToStarter = (): void => void process.on('SIGHUP', () => {})
