// Deletes files that are no longer needed. A failed deletion is retried later and fails no request.

export interface CleanupQueue {
  /** Runs a deletion, or queues it if it fails. Never rejects. */
  run(work: () => Promise<void>): Promise<void>
  /** Retries the queued deletions. */
  retry(): Promise<void>
}

/** Maximum number of queued deletions. Files beyond it are left to the cleanup by the next process. */
const maxQueued = 10_000

export function openCleanupQueue(): CleanupQueue {
  let queued: (() => Promise<void>)[] = []

  async function retry(): Promise<void> {
    const batch = queued
    queued = []
    for (const [index, work] of batch.entries()) {
      try {
        await work()
      } catch {
        queued.push(...batch.slice(index))
        return
      }
    }
  }

  return {
    run: async (work) => {
      try {
        await work()
      } catch {
        if (queued.length < maxQueued) queued.push(work)
        return
      }
      if (queued.length > 0) await retry()
    },
    retry,
  }
}
