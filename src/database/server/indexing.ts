// Creates indexes of our own on a server in the background, until the service closes.
import type { IndexingReport } from '../driver.js'

/** Starts to create what is missing. Returns what stops it, which resolves when nothing more happens. */
export function startIndexing(create: (stop: AbortSignal) => Promise<number>, report: IndexingReport): () => Promise<void> {
  const stop = new AbortController()
  const ended = create(stop.signal).then(
    (made) => stop.signal.aborted || report.made(made),
    (error: Error) => stop.signal.aborted || report.failed(error),
  )
  return async () => {
    stop.abort()
    await ended
  }
}
