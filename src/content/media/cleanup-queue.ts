// Deletes files that are no longer needed. A deletion that fails is retried later and fails no request.

/** A queue of deletions. */
export interface CleanupQueue {
  /** Runs a deletion, or queues it if it fails. Never rejects. */
  run(work: () => Promise<void>): Promise<void>
  /** Retries the queued deletions. */
  retry(): Promise<void>
}

/** The most queued deletions. Files beyond that are found by the next process, which cleans up after stopped ones. */
const maxQueued = 10_000

/** Opens an empty queue. */
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
