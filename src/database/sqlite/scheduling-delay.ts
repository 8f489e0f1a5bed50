// How long a thread waited for a processor: what looks like a long read may be a short one on a machine that is too busy.
import { readFileSync, readlinkSync } from 'node:fs'

/** The name under which the system counts the time of the thread that calls this; null where it does not. */
export function currentThread(): string | null {
  try {
    return readlinkSync('/proc/thread-self')
  } catch {
    return null
  }
}

/** Milliseconds that a thread was ready to run since it began and had no processor; 0 where the system does not tell. */
export function schedulingDelay(thread: string | null): number {
  if (thread === null) return 0
  try {
    // Nanoseconds: on a processor, waiting for one; then the number of turns.
    return Number(readFileSync(`/proc/${thread}/schedstat`, 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}
