// How late the event loop is, from a timer that should fire at a fixed interval.

/** Watches the event loop. */
export interface EventLoopLag {
  /** Milliseconds by which the last turn was late, or the present one is. */
  now(): number
  close(): void
}

/** Milliseconds between two looks. */
const interval = 500

/** Starts to watch the event loop of this thread. */
export function watchEventLoop(): EventLoopLag {
  let last = performance.now()
  let lag = 0
  const late = (): number => Math.max(0, performance.now() - last - interval)
  const timer = setInterval(() => {
    lag = late()
    last = performance.now()
  }, interval)
  timer.unref()
  return { now: () => Math.max(lag, late()), close: () => clearInterval(timer) }
}
