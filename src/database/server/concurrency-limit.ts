// Limits the number of concurrent tasks. Others wait in a bounded queue for a free slot.
import type { ApiError } from '../../foundation/errors/errors.js'
import { unavailableError } from '../errors.js'

const pollIntervalMs = 100

/** `refusal`: error message if the queue is full. `isOver`: the error of a cancelled task, or null. */
export function createConcurrencyLimit(
  most: number,
  queue: number,
  refusal: string,
): <Result>(work: () => Promise<Result>, isOver: () => ApiError | null) => Promise<Result> {
  let running = 0
  const waiting = new Set<() => void>()

  /** Resolves when it is the caller's turn. @throws the error of `isOver` */
  async function turn(isOver: () => ApiError | null): Promise<void> {
    if (waiting.size >= queue) throw unavailableError(refusal)
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve, reject) => {
      waiting.add(resolve)
      timer = setInterval(() => {
        const over = isOver()
        if (over !== null && waiting.delete(resolve)) reject(over)
      }, pollIntervalMs)
    }).finally(() => clearInterval(timer))
  }

  return async (work, isOver) => {
    // A woken waiter takes over the slot of the finished task.
    if (running >= most) await turn(isOver)
    else running++
    try {
      return await work()
    } finally {
      const [next] = waiting
      if (next === undefined) {
        running--
      } else {
        waiting.delete(next)
        next()
      }
    }
  }
}
