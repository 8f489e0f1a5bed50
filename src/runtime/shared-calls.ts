// Lets callers share what is found out for them.

/**
 * Lets callers share what `ask` finds out. Whoever calls gets the result of a call that began after that: one may be under way, and one
 * wait for it. `ready`: resolves when the next call may begin.
 */
export function shared<Result>(ask: () => Promise<Result>, ready?: () => Promise<void>): () => Promise<Result> {
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<Result> | null = null
  return () => {
    next ??= (ready === undefined ? running : running.then(ready)).then(() => {
      const begun = ask()
      next = null
      running = begun.catch(() => {})
      return begun
    })
    return next
  }
}
