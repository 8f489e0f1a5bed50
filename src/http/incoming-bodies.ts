// Limits the memory of incomplete request bodies; slow clients are refused first.
import { ApiError } from '../foundation/errors/errors.js'
import { openClientMemory } from './client-memory.js'

/** A body that is being received. */
export interface IncomingBody {
  /** Counts received bytes. @throws ApiError 503 if the limit is reached */
  add(bytes: number): void
  /** Rejects if the body is refused to free memory. */
  readonly refused: Promise<never>
  /** Ends the counting when the body is complete or no longer needed. */
  end(): void
}

/** All incomplete request bodies. */
export interface IncomingBodies {
  /** Starts to count a body from a client address. */
  begin(address: string): IncomingBody
}

/** Milliseconds before a body may be refused to free memory for others of its address. */
const minAge = 1_000

/** Opens the counting, with a limit in bytes. */
export function openIncomingBodies(unreadBytes: number): IncomingBodies {
  const memory = openClientMemory(minAge)
  return {
    begin: (address) => {
      let refuse = (): void => {}
      const refused = new Promise<never>((_, reject) => {
        refuse = () => reject(tooMany())
      })
      // If the body arrives completely, nothing waits for this promise.
      refused.catch(() => {})
      const lease = memory.lease(address, () => refuse())
      return {
        refused,
        add: (bytes) => {
          if (!lease.isOpen()) throw tooMany()
          lease.add(bytes)
          while (memory.total() > unreadBytes) if (!memory.revoke(unreadBytes)) throw tooMany()
        },
        end: lease.end,
      }
    },
  }
}

const tooMany = (): ApiError => new ApiError('ServiceUnavailableError', 'Too many incomplete request bodies')
