// Bodies that have not come in whole yet: what they hold together is bounded, and the slow make room for others.
import { ApiError } from '../errors.js'
import { mostOf } from './unsent.js'

/** A body that is coming in. */
export interface Coming {
  /** Takes note of more bytes. @throws ApiError 503 when there is no room for them */
  more(bytes: number): void
  /** Rejects when the body has to make room. */
  readonly refused: Promise<never>
  /** It is whole, or nobody waits for it any more. */
  end(): void
}

export interface ComingBodies {
  begin(address: string): Coming
}

interface Body {
  readonly address: string
  readonly since: number
  bytes: number
  refuse(): void
}

/** Milliseconds that every body has before it may have to make room. */
const patience = 1_000

export function openComing(unreadBytes: number): ComingBodies {
  const bodies = new Set<Body>()
  let total = 0
  const forget = (body: Body): void => {
    if (bodies.delete(body)) total -= body.bytes
  }

  function makeRoom(): void {
    const late = performance.now() - patience
    while (total > unreadBytes) {
      const slow = mostOf(bodies, (body) => body.since < late)
      if (slow === undefined) throw tooMany()
      forget(slow)
      slow.refuse()
    }
  }

  return {
    begin: (address) => {
      let refuse = (): void => {}
      const refused = new Promise<never>((_, reject) => {
        refuse = () => reject(tooMany())
      })
      // Nobody waits for it where the body came in whole.
      refused.catch(() => {})
      const body: Body = { address, since: performance.now(), bytes: 0, refuse: () => refuse() }
      bodies.add(body)
      return {
        refused,
        more: (bytes) => {
          if (!bodies.has(body)) throw tooMany()
          body.bytes += bytes
          total += bytes
          makeRoom()
        },
        end: () => forget(body),
      }
    },
  }
}

const tooMany = (): ApiError => new ApiError('ServiceUnavailableError', 'Too many bodies are coming in')
