// Spreads requests over time, so that the comparison does not load either service.
import { pause } from '../../src/foundation/runtime/clock.js'

/** Resolves when the next request may be sent. */
export type Pace = () => Promise<void>

/** Returns a pace of at most that many requests per second. */
export function paceOf(rate: number): Pace {
  const interval = 1_000 / rate
  let next = 0
  return async () => {
    const now = performance.now()
    const slot = Math.max(now, next)
    next = slot + interval
    if (slot > now) await pause(slot - now)
  }
}
