// Logs failures: each cause at most once per second, with the number of suppressed repetitions.
import type { Logger } from 'pino'

/** A log of failures without repetitions. */
export interface FailureLog {
  /**
   * Logs a failure at level error, or counts it if the same cause was logged within the last second.
   * @returns the id of the earlier request with which the cause was logged; otherwise undefined
   */
  report(error: unknown, message: string, requestId?: string): string | undefined
}

/** Milliseconds in which a cause is logged only once. */
const window = 1_000
/** The most causes that are distinguished at the same time; further ones are counted together. */
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
      }, window).unref()
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
