// The line of waiting writes: one turn after the other, in the order in which they were asked for.
import { unavailable } from '../../unavailable.js'

/** Writes that take turns. */
export interface WriteLine {
  /** Turns that wait, and the one that is taken. */
  length(): number
  /** Takes a turn after those that came before. @throws ApiError 503 if the line is full */
  take<Result>(turn: () => Promise<Result>): Promise<Result>
  /** Resolves when the turns that were asked for so far are over. */
  over(): Promise<unknown>
}

/** Opens a line of at most `places` turns. `emptied` is called when a turn is over and no other waits. */
export function openLine(places: number, emptied: () => void): WriteLine {
  let length = 0
  let last: Promise<unknown> = Promise.resolve()

  function leave(): void {
    length--
    if (length === 0) emptied()
  }

  return {
    length: () => length,
    take: (turn) => {
      if (length >= places) throw unavailable('Too many writes are waiting')
      length++
      const taken = last.then(turn).finally(leave)
      last = taken.catch(() => {})
      return taken
    },
    over: () => last,
  }
}
