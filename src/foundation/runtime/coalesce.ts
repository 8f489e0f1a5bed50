// Lets concurrent callers share the result of one call.
import { elapsed, pause } from './clock.js'

/**
 * Lets callers share calls of `ask`. A caller gets the result of a call that begins later: one may be running, and one waiting for it.
 * `apart`: minimum milliseconds between the starts of two calls.
 */
export function shared<Result>(ask: () => Promise<Result>, apart = 0): () => Promise<Result> {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<Result> | null = null
  let began = Number.NEGATIVE_INFINITY

  function ready(): Promise<void> | undefined {
    const left = began + apart - elapsed()
    return left > 0 ? pause(left) : undefined
  }

  return () => {
    next ??= (apart === 0 ? running : running.then(ready)).then(() => {
      if (apart > 0) began = elapsed()
      const begun = ask()
      next = null
      running = begun.catch(() => {})
      return begun
    })
    return next
  }
}

/** Returns a function that does `work` on the first call. Concurrent calls share it; after a failure the next call tries again. */
export function onceDone<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let doing: Promise<Result> | null = null
  return () => {
    if (doing !== null) return doing
    const begun = (async () => work())()
    doing = begun
    begun.catch(() => {
      if (doing === begun) doing = null
    })
    return begun
  }
}
