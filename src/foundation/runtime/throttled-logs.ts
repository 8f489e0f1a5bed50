// Logs failures: each cause at most once per second, with the number of suppressed repetitions.
import type { Logger } from 'pino'

/** A log of failures without repetitions. */
export interface FailureLog {
  /**
   * Logs a failure at level error, or counts it if the same cause was logged within the last second.
   * @returns the id of the earlier request whose log line has this cause; otherwise undefined
   */
  report(error: unknown, message: string, requestId?: string): string | undefined
}

/** Interval in which a cause is logged only once. */
const failureIntervalMs = 1_000
/** Causes that are distinguished at the same time; further ones are counted together. */
const maxCauses = 100

/** Opens a log of failures. */
export function openFailureLog(logger: Pick<Logger, 'error'>): FailureLog {
  const recent = new Map<string, { suppressed: number; readonly requestId: string | undefined }>()
  return {
    report: (error, message, requestId) => {
      const own = causeOf(error, message)
      const key = recent.has(own) || recent.size < maxCauses ? own : 'others'
      const logged = recent.get(key)
      if (logged !== undefined) {
        logged.suppressed++
        return logged.requestId
      }
      const entry = { suppressed: 0, requestId }
      recent.set(key, entry)
      logger.error({ requestId, err: error }, message)
      setTimeout(() => {
        recent.delete(key)
        if (entry.suppressed > 0) logger.error({ err: error, suppressed: entry.suppressed }, `${message} (repeated for the same cause)`)
      }, failureIntervalMs).unref()
      return undefined
    },
  }
}

/** Returns a key for the cause of a failure, ignoring quoted values in messages. */
function causeOf(error: unknown, message: string): string {
  if (!(error instanceof Error)) return message
  const { name, cause } = error
  const { code = '' } = error as NodeJS.ErrnoException
  const words = error.message.slice(0, 200).replace(/"[^"]*"/g, '')
  return `${message} ${name} ${code} ${words} ${cause instanceof Error ? causeOf(cause, '') : ''}`
}

/** A log of slow work. */
export interface SlowLog {
  /** Minimum milliseconds of slow work. */
  readonly from: number
  /**
   * Logs slow work at level warn, unless the same was logged within the last minute. `key`: what counts as the same; `describe`: the fields
   * of the line, which hold no value of a request.
   */
  note(key: string, message: string, milliseconds: number, describe: () => Readonly<Record<string, unknown>>): void
}

/** Interval in which the same work is logged only once. */
const slowIntervalMs = 60_000
/** Kinds of work that are distinguished at the same time; further ones are logged as one. */
const maxKinds = 500

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
      if (logged.size >= maxKinds && !logged.has(own)) forgetOld(at)
      const key = logged.has(own) || logged.size < maxKinds ? own : 'others'
      const before = logged.get(key)
      if (before !== undefined && before.until > at) {
        before.suppressed++
        return
      }
      const repeated = before?.suppressed ?? 0
      logged.set(key, { until: at + slowIntervalMs, suppressed: 0 })
      logger.warn({ milliseconds: Math.round(milliseconds), ...describe(), ...(repeated > 0 && { repeated }) }, message)
    },
  }
}
