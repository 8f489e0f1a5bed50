// Answers that clients have not taken yet. Their memory is lent: nobody keeps it for long, and the slow make room for others.
import type { ServerResponse } from 'node:http'

export interface UnsentLimits {
  /** Bytes of all of them; half of that is for those that are quick. */
  readonly unsentBytes: number
  /** Milliseconds for a client to take one whole. */
  readonly answerTimeout: number
}

export interface Unsent {
  /** Watches an answer of so many bytes to a client at this address until it has left. */
  watch(response: ServerResponse, address: string, bytes: number): void
}

interface Lent {
  readonly response: ServerResponse
  readonly address: string
  readonly bytes: number
  readonly since: number
}

/** Milliseconds that every answer has before it may have to make room, and between two looks. */
const [patience, between] = [2_000, 500]

export function watchUnsent({ unsentBytes, answerTimeout }: UnsentLimits): Unsent {
  const lent = new Set<Lent>()
  let total = 0
  let looking: NodeJS.Timeout | null = null
  const isTight = (): boolean => total > unsentBytes / 2

  /** Gives up the oldest answers of the address that holds most, until there is room. */
  function makeRoom(): void {
    looking = null
    const late = performance.now() - patience
    while (isTight()) {
      const slow = mostOf(lent, (one) => one.since < late)
      if (slow === undefined) break
      forget(slow)
      slow.response.destroy()
    }
    if (isTight()) look()
  }

  const look = (): void => {
    looking ??= setTimeout(makeRoom, between)
    looking.unref()
  }

  function forget(one: Lent): void {
    if (lent.delete(one)) total -= one.bytes
  }

  return {
    watch: (response, address, bytes) => {
      if (response.closed) return
      const one = { response, address, bytes, since: performance.now() }
      lent.add(one)
      total += bytes
      const deadline = setTimeout(() => response.destroy(), answerTimeout)
      response.once('close', () => {
        clearTimeout(deadline)
        forget(one)
      })
      if (isTight()) look()
    },
  }
}

/** What may be given up of the address that holds most: its first. */
export function mostOf<One extends { readonly address: string; readonly bytes: number }>(
  all: Iterable<One>,
  mayGo: (one: One) => boolean,
): One | undefined {
  const held = new Map<string, { bytes: number; first: One | undefined }>()
  for (const one of all) {
    const known = held.get(one.address) ?? { bytes: 0, first: undefined }
    known.bytes += one.bytes
    if (known.first === undefined && mayGo(one)) known.first = one
    held.set(one.address, known)
  }
  let most: { bytes: number; first: One | undefined } | undefined
  for (const one of held.values()) if (one.first !== undefined && (most === undefined || one.bytes > most.bytes)) most = one
  return most?.first
}
