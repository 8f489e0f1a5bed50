// Work whose result is kept, and whose failure is not: one bad minute must not decide for the life of the process.

/** Returns a function that does `work` when it is first called. Calls meanwhile share it; after a failure the next call tries again. */
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
