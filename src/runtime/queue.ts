// Heavy work, a few at a time: the rest waits in line, and beyond its end is told to come back. And work on one thing at a time.
import { ApiError } from '../errors/errors.js'

export interface Queue {
  /** Runs `work` when it is its turn. @throws ApiError 503 when too many wait. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
}

/** `refusal`: what is told where `longest` wait already. */
export function openQueue(atOnce: number, longest: number, refusal: string): Queue {
  const waiting: (() => void)[] = []
  let running = 0
  return {
    run: async (work) => {
      if (running >= atOnce) {
        if (waiting.length >= longest) throw new ApiError('ServiceUnavailableError', refusal)
        await new Promise<void>((start) => waiting.push(start))
      } else running++
      try {
        return await work()
      } finally {
        // The place goes on to the next in line; nobody can take it in between.
        const next = waiting.shift()
        if (next === undefined) running--
        else next()
      }
    },
  }
}

export interface Lines {
  /** Runs `work` when everything that came before for the same `id` is over. */
  inLine<Result>(id: number, work: () => Promise<Result>): Promise<Result>
}

export function openLines(): Lines {
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
