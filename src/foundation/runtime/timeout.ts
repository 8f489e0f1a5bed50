// Runs code of a project for a limited time.
import { ApiError } from '../errors/errors.js'
import { elapsed } from './clock.js'

const tooSlow = (name: string, milliseconds: number) =>
  new ApiError('ServiceUnavailableError', `${name} took longer than ${milliseconds} milliseconds`)

/**
 * Lets code of the project run for so long, and no longer waits for it then. Code that never gives the thread back cannot be ended.
 * @returns what it returns. @throws ApiError 503 when the time is over
 */
export async function withTimeout<Result>(
  milliseconds: number,
  name: string,
  run: (signal: AbortSignal) => Result | Promise<Result>,
): Promise<Result> {
  const ended = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const deadline = elapsed() + milliseconds
  const late = new Promise<never>((_, reject) => {
    const look = () => {
      // A process that was paused has timers that are due before their time.
      const left = deadline - elapsed()
      if (left > 1) {
        timer = setTimeout(look, left)
        return
      }
      const error = tooSlow(name, milliseconds)
      ended.abort(error)
      reject(error)
    }
    timer = setTimeout(look, milliseconds)
  })
  try {
    return await Promise.race([(async () => run(ended.signal))(), late])
  } finally {
    clearTimeout(timer)
  }
}
