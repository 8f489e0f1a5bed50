// Creates the current model's missing indexes in the background; a model change restarts it.
import type { Model } from '../model/schema/types.js'
import type { IndexingReport } from './driver.js'

interface BackgroundIndexes {
  /** Stops the current run and starts one for this model. */
  begin(model: Model): Promise<void>
  /** Suspends index creation while `work` runs (which may call `begin`), then resumes it. */
  without<Result>(work: () => Promise<Result>): Promise<Result>
  stop(): Promise<void>
}

/** `start` begins index creation for a model and returns a stop function; null disables index creation. */
export function createBackgroundIndexes(start: ((model: Model) => () => Promise<void>) | null): BackgroundIndexes {
  let stopCurrent: (() => Promise<void>) | null = null
  let isClosed = false
  let last: Model | null = null
  const stop = async (): Promise<void> => {
    const stopping = stopCurrent
    stopCurrent = null
    await stopping?.()
  }
  return {
    begin: async (model) => {
      last = model
      await stop()
      if (start !== null && !isClosed) stopCurrent = start(model)
    },
    without: async (work) => {
      await stop()
      try {
        return await work()
      } finally {
        if (start !== null && !isClosed && last !== null) stopCurrent ??= start(last)
      }
    },
    stop: async () => {
      isClosed = true
      await stop()
    },
  }
}

/** Starts index creation. The returned function aborts it and resolves once it has ended. */
export function startIndexing(create: (stop: AbortSignal) => Promise<number>, report: IndexingReport): () => Promise<void> {
  const stop = new AbortController()
  const ended = create(stop.signal).then(
    (created) => stop.signal.aborted || report.created(created),
    (error: Error) => stop.signal.aborted || report.failed(error),
  )
  return async () => {
    stop.abort()
    await ended
  }
}
