// Closes what was opened: the last first, and all of it, whatever fails.

/** What was opened, to be closed in reverse order. */
export interface Closers {
  /** Takes note of how something that was opened is closed; the server serves on for `delay` milliseconds before. */
  add(close: (delay: number) => unknown): void
  /** Closes what was opened, the last first. @throws the first failure, when all are closed that can be */
  close(delay: number): Promise<void>
}

export function openClosers(): Closers {
  const closers: ((delay: number) => unknown)[] = []
  let closing: Promise<void> | null = null

  async function closeAll(delay: number): Promise<void> {
    const failures: unknown[] = []
    for (const close of closers.toReversed()) {
      try {
        await close(delay)
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  return {
    add: (close) => void closers.push(close),
    close: (delay) => {
      closing ??= closeAll(delay)
      return closing
    },
  }
}
