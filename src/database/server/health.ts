// Whether the server can be reached. A lost connection alone says little; it makes this look, again and again until the server answers.

export interface Reachability {
  /** A connection was lost, or could not be made. */
  failed(error: Error): void
  /** Null while the server can be reached; otherwise a sentence for whoever asks for the health of the service. */
  trouble(): string | null
  close(): void
}

export interface ReachabilityOptions {
  /** Resolves if the server answers a statement. */
  probe(): Promise<unknown>
  /** Called once for each outage, and when it is over. */
  lost(error: unknown): void
  found(): void
}

/** Milliseconds between two looks while the server cannot be reached. */
const lookEvery = 500

export function openHealth({ probe, lost, found }: ReachabilityOptions): Reachability {
  let isLost = false
  let isLooking = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined

  async function look(): Promise<void> {
    try {
      await probe()
      isLooking = false
      if (isLost && !isClosed) found()
      isLost = false
    } catch (error) {
      if (isClosed) return
      if (!isLost) lost(error)
      isLost = true
      timer = setTimeout(look, lookEvery)
      timer.unref()
    }
  }

  return {
    failed: () => {
      if (isLooking || isClosed) return
      isLooking = true
      void look()
    },
    trouble: () => (isLost ? 'The database cannot be reached' : null),
    close: () => {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
