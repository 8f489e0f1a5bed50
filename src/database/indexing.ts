// Creates the missing indexes of the model in force in the background: another model begins anew.
import type { Model } from '../model/types.js'

/** Indexes that are created in the background. */
export interface BackgroundIndexes {
  /** Stops what is under way, and begins to create what this model lacks. */
  begin(model: Model): Promise<void>
  stop(): Promise<void>
}

/** Opens the creation of indexes; `start` begins it for one model and returns what stops it. Null: indexes are not created. */
export function openBackgroundIndexes(start: ((model: Model) => () => Promise<void>) | null): BackgroundIndexes {
  let stopCurrent: (() => Promise<void>) | null = null
  let isClosed = false
  const stop = async (): Promise<void> => {
    const stopping = stopCurrent
    stopCurrent = null
    await stopping?.()
  }
  return {
    begin: async (model) => {
      await stop()
      if (start !== null && !isClosed) stopCurrent = start(model)
    },
    stop: async () => {
      isClosed = true
      await stop()
    },
  }
}
