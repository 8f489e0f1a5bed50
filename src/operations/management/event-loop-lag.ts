// The lag of the event loop, from a timer with a fixed interval.

/** Watches the event loop. */
export interface EventLoopLag {
  /** Lag of the last or the current turn in milliseconds. */
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
