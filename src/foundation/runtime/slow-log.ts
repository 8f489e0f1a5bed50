// Logs work that took long: what repeats is logged once a minute, with how often it was slow meanwhile.
import type { Logger } from 'pino'

/** A log of slow work. */
export interface SlowLog {
  /** Milliseconds from which on work is slow. */
  readonly from: number
  /**
   * Logs slow work at level warn, unless the same was logged within the last minute. `key`: what counts as the same; `describe`: the fields
   * of the line, which hold no value of a request.
   */
  note(key: string, message: string, milliseconds: number, describe: () => Readonly<Record<string, unknown>>): void
}

/** Milliseconds in which the same work is logged only once. */
const window = 60_000
/** The most kinds of work that are distinguished at the same time; further ones are logged as one. */
const most = 500

/** Opens a log of slow work; null: `from` is 0, and nothing is logged. */
export function openSlowLog(logger: Pick<Logger, 'warn'>, from: number, now: () => number = () => performance.now()): SlowLog | null {
  if (from === 0) return null
  const logged = new Map<string, { readonly until: number; suppressed: number }>()

  function forgetOld(at: number): void {
    for (const [key, { until }] of logged) if (until <= at) logged.delete(key)
  }

  return {
    from,
    note: (own, message, milliseconds, describe) => {
      const at = now()
      if (logged.size >= most && !logged.has(own)) forgetOld(at)
      const key = logged.has(own) || logged.size < most ? own : 'others'
      const before = logged.get(key)
      if (before !== undefined && before.until > at) {
        before.suppressed++
        return
      }
      const repeated = before?.suppressed ?? 0
      logged.set(key, { until: at + window, suppressed: 0 })
      logger.warn({ milliseconds: Math.round(milliseconds), ...describe(), ...(repeated > 0 && { repeated }) }, message)
    },
  }
}
