// Answers that clients have not taken yet. Their memory is lent: nobody keeps it for long, and the slow make room for others.
import type { ServerResponse } from 'node:http'
import { openClientMemory } from './client-memory.js'

export interface UnsentLimits {
  /** Bytes of all of them; half of that is for those that are quick. */
  readonly maxBufferedResponseBytes: number
  /** Milliseconds for a client to take one whole. */
  readonly answerTimeout: number
}

export interface Unsent {
  /** Watches an answer of so many bytes to a client at this address until it has left. */
  watch(response: ServerResponse, address: string, bytes: number): void
}

/** Milliseconds that every answer has before it may have to make room, and between two looks. */
const [patience, between] = [2_000, 500]

export function watchUnsent({ maxBufferedResponseBytes, answerTimeout }: UnsentLimits): Unsent {
  const lent = openClientMemory(patience)
  let looking: NodeJS.Timeout | null = null
  const isTight = (): boolean => lent.total() > maxBufferedResponseBytes / 2

  /** Gives up the oldest answers of the address that holds most, until there is room. */
  function makeRoom(): void {
    looking = null
    while (isTight() && lent.takeBack());
    if (isTight()) look()
  }

  const look = (): void => {
    looking ??= setTimeout(makeRoom, between)
    looking.unref()
  }

  return {
    watch: (response, address, bytes) => {
      if (response.closed) return
      const loan = lent.lend(address, () => response.destroy())
      loan.more(bytes)
      const deadline = setTimeout(() => response.destroy(), answerTimeout)
      response.once('close', () => {
        clearTimeout(deadline)
        loan.end()
      })
      if (isTight()) look()
    },
  }
}
