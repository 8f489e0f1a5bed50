// Limits the memory of large responses that are not completely sent; slow clients are disconnected first.
import type { ServerResponse } from 'node:http'
import { openClientMemory } from './client-memory.js'
import { onceClosed } from './once-closed.js'

/** The limits for unsent responses. */
export interface UnsentLimits {
  /** Total bytes; from half of that on, slow clients are disconnected. */
  readonly maxBufferedResponseBytes: number
  /** Milliseconds for a client to receive a response. */
  readonly answerTimeout: number
}

/** All large responses that are not completely sent. */
export interface UnsentResponses {
  /** Counts a response of `bytes` bytes to a client address until it is sent. */
  watch(response: ServerResponse, address: string, bytes: number): void
}

/** In milliseconds: the age from which a response may be aborted to free memory for others of its address, and the interval between checks. */
const [minAge, checkInterval] = [2_000, 500]

/** Starts to count unsent responses. */
export function watchUnsent({ maxBufferedResponseBytes, answerTimeout }: UnsentLimits): UnsentResponses {
  const memory = openClientMemory(minAge)
  let scheduled: NodeJS.Timeout | null = null
  const limit = maxBufferedResponseBytes / 2
  const isTight = (): boolean => memory.total() > limit
  /** Soon new responses would be refused, whoever asks. */
  const isUrgent = (): boolean => memory.total() > 1.5 * limit

  /** Aborts the oldest responses of the address that uses most memory, until the total is below the limit. */
  function freeMemory(): void {
    if (scheduled !== null) clearTimeout(scheduled)
    scheduled = null
    while (isTight() && memory.revoke(limit));
    if (isTight()) scheduleCheck()
  }

  const scheduleCheck = (): void => {
    scheduled ??= setTimeout(freeMemory, checkInterval)
    scheduled.unref()
  }

  return {
    watch: (response, address, bytes) => {
      if (response.closed) return
      const lease = memory.lease(address, () => response.destroy())
      lease.add(bytes)
      const deadline = setTimeout(() => response.destroy(), answerTimeout)
      onceClosed(response, () => {
        clearTimeout(deadline)
        lease.end()
      })
      if (isUrgent()) setImmediate(freeMemory)
      else if (isTight()) scheduleCheck()
    },
  }
}
