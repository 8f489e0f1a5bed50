// Lets callers share what is found out for them.

/**
 * Lets callers share what `ask` finds out. Whoever calls gets the result of a call that began after that: one may be under way, and one
 * wait for it.
 */
export function shared<Result>(ask: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<Result> | null = null
  return () => {
    next ??= running.then(() => {
      const begun = ask()
      next = null
      running = begun.catch(() => {})
      return begun
    })
    return next
  }
}
