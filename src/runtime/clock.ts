// The clock for deadlines, intervals and limits: it never goes back, does not know what day it is, and stands still while the
// process is paused, so that nobody who waits is refused for a pause that was not theirs.

/** A longer time between two looks at the clock is a pause of the process; milliseconds. */
const longestGap = 1_000
/** How often somebody looks at least; milliseconds. */
const interval = 200

let seen = performance.now()
let paused = 0
let isTicking = false

/** Milliseconds that this thread has been running, from an arbitrary moment on; only differences mean something. */
export function elapsed(): number {
  if (!isTicking) {
    isTicking = true
    seen = performance.now()
    setInterval(elapsed, interval).unref()
  }
  const now = performance.now()
  const gap = now - seen
  if (gap > longestGap) paused += gap - interval
  seen = now
  return now - paused
}
