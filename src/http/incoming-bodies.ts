// Bodies that have not come in whole yet: what they hold together is bounded, and the slow make room for others.
import { ApiError } from '../errors/errors.js'
import { openClientMemory } from './client-memory.js'

/** A body that is coming in. */
export interface IncomingBody {
  /** Takes note of more bytes. @throws ApiError 503 when there is no room for them */
  more(bytes: number): void
  /** Rejects when the body has to make room. */
  readonly refused: Promise<never>
  /** It is whole, or nobody waits for it any more. */
  end(): void
}

export interface IncomingBodies {
  begin(address: string): IncomingBody
}

/** Milliseconds that every body has before it may have to make room. */
const patience = 1_000

export function openIncomingBodies(unreadBytes: number): IncomingBodies {
  const lent = openClientMemory(patience)
  return {
    begin: (address) => {
      let refuse = (): void => {}
      const refused = new Promise<never>((_, reject) => {
        refuse = () => reject(tooMany())
      })
      // Nobody waits for it where the body came in whole.
      refused.catch(() => {})
      const loan = lent.lend(address, () => refuse())
      return {
        refused,
        more: (bytes) => {
          if (!loan.isOpen()) throw tooMany()
          loan.more(bytes)
          while (lent.total() > unreadBytes) if (!lent.takeBack()) throw tooMany()
        },
        end: loan.end,
      }
    },
  }
}

const tooMany = (): ApiError => new ApiError('ServiceUnavailableError', 'Too many bodies are coming in')
