// Monitors the server's reachability. A lost connection starts polling, which stops once the server responds.

interface Reachability {
  /** A connection was lost or could not be opened. */
  failed(error: Error): void
  /** Null while the server can be reached; otherwise a sentence for the health check. */
  trouble(): string | null
  close(): void
}

interface ReachabilityOptions {
  /** Resolves if the server responds. */
  probe(): Promise<unknown>
  /** Called at the start and at the end of each outage. */
  lost(error: unknown): void
  found(): void
}

/** Milliseconds between probes while the server cannot be reached. */
const pollIntervalMs = 500

export function createHealthMonitor({ probe, lost, found }: ReachabilityOptions): Reachability {
  let isLost = false
  let isPolling = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined

  async function poll(): Promise<void> {
    try {
      await probe()
      isPolling = false
      if (isLost && !isClosed) found()
      isLost = false
    } catch (error) {
      if (isClosed) return
      if (!isLost) lost(error)
      isLost = true
      timer = setTimeout(poll, pollIntervalMs)
      timer.unref()
    }
  }

  return {
    failed: () => {
      if (isPolling || isClosed) return
      isPolling = true
      void poll()
    },
    trouble: () => (isLost ? 'The database cannot be reached' : null),
    close: () => {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
