// Queues: one with limited concurrency and length, and one that runs work for the same id one at a time.
import { ApiError } from '../errors/errors.js'

/** A queue with limited concurrency. */
export interface Queue {
  /** Runs `work` when it is its turn. @throws ApiError 503 if the queue is full. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
}

/** Opens a queue with `concurrency` running and at most `maxWaiting` waiting works. `refusal`: the message if it is full. */
export function openQueue(concurrency: number, maxWaiting: number, refusal: string): Queue {
  const waiting: (() => void)[] = []
  let running = 0
  return {
    run: async (work) => {
      if (running >= concurrency) {
        if (waiting.length >= maxWaiting) throw new ApiError('ServiceUnavailableError', refusal)
        await new Promise<void>((start) => waiting.push(start))
      } else running++
      try {
        return await work()
      } finally {
        // Starts the next work directly, so that no other can take its place.
        const next = waiting.shift()
        if (next === undefined) running--
        else next()
      }
    },
  }
}

/** One queue per id, which runs one work at a time. */
export interface SerialQueues {
  /** Runs `work` after all earlier work for the same `id`. */
  inLine<Result>(id: number, work: () => Promise<Result>): Promise<Result>
}

/** Opens queues by id. */
export function openSerialQueues(): SerialQueues {
  const last = new Map<number, Promise<unknown>>()
  return {
    inLine: (id, work) => {
      const turn = (last.get(id) ?? Promise.resolve()).then(work)
      const over = turn
        .catch(() => {})
        .then(() => {
          if (last.get(id) === over) last.delete(id)
        })
      last.set(id, over)
      return turn
    },
  }
}
