// Removing what is no longer needed. A disk that does not let it happen now is asked again later: nobody's request fails
// for it, and nothing is forgotten while the process runs.

export interface CleanupQueue {
  /** Does the work, or keeps it for later where the disk fails. Never rejects. */
  run(work: () => Promise<void>): Promise<void>
  /** Tries again what was kept. */
  again(): Promise<void>
}

/** Works that are kept. What is beyond is found by the next process, as all that a stopped one leaves. */
const most = 10_000

export function openCleanupQueue(): CleanupQueue {
  let left: (() => Promise<void>)[] = []

  async function again(): Promise<void> {
    const works = left
    left = []
    for (const [index, work] of works.entries()) {
      try {
        await work()
      } catch {
        left.push(...works.slice(index))
        return
      }
    }
  }

  return {
    run: async (work) => {
      try {
        await work()
      } catch {
        if (left.length < most) left.push(work)
        return
      }
      if (left.length > 0) await again()
    },
    again,
  }
}
