// Creates missing indexes of the current model in the background; a new model restarts the creation.
import type { Model } from '../model/schema/types.js'
import type { IndexingReport } from './driver.js'

/** Indexes that are created in the background. */
export interface BackgroundIndexes {
  /** Stops the running creation and starts one for this model. */
  begin(model: Model): Promise<void>
  /** Creates none while `work` goes on, which may begin with another model; goes on afterwards. */
  without<Result>(work: () => Promise<Result>): Promise<Result>
  stop(): Promise<void>
}

/** Opens the creation of indexes; `start` begins it for one model and returns what stops it. Null: indexes are not created. */
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

/** Starts the creation. Returns a function that stops it and resolves when it has ended. */
export function startIndexing(create: (stop: AbortSignal) => Promise<number>, report: IndexingReport): () => Promise<void> {
  const stop = new AbortController()
  const ended = create(stop.signal).then(
    (made) => stop.signal.aborted || report.created(made),
    (error: Error) => stop.signal.aborted || report.failed(error),
  )
  return async () => {
    stop.abort()
    await ended
  }
}
