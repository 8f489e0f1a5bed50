// Failures in the log: each cause once a second at most, with a count of those that were left out.
import type { Logger } from 'pino'

export interface FailureLog {
  /**
   * Logs a failure at level error, unless the same cause was logged within the last second: then it is counted.
   * @returns the id of the request that the cause was logged with, where it is another one's; otherwise undefined
   */
  report(error: unknown, message: string, requestId?: string): string | undefined
}

/** Milliseconds in which a cause is logged once. */
const window = 1_000
/** Causes that are told apart at the same time; more share one. */
const mostCauses = 100

export function openFailureLog(logger: Pick<Logger, 'error'>): FailureLog {
  const recent = new Map<string, { leftOut: number; readonly requestId: string | undefined }>()
  return {
    report: (error, message, requestId) => {
      const own = causeOf(error, message)
      const key = recent.has(own) || recent.size < mostCauses ? own : 'others'
      const known = recent.get(key)
      if (known !== undefined) {
        known.leftOut++
        return known.requestId
      }
      const entry = { leftOut: 0, requestId }
      recent.set(key, entry)
      logger.error({ requestId, err: error }, message)
      setTimeout(() => {
        recent.delete(key)
        if (entry.leftOut > 0) logger.error({ err: error, leftOut: entry.leftOut }, `${message}: again, for the same cause`)
      }, window).unref()
      return undefined
    },
  }
}

/** What makes two failures the same: quoted values in a message do not tell them apart. */
function causeOf(error: unknown, message: string): string {
  if (!(error instanceof Error)) return message
  const { name, cause } = error
  const { code = '' } = error as NodeJS.ErrnoException
  const words = error.message.slice(0, 200).replace(/"[^"]*"/g, '')
  return `${message} ${name} ${code} ${words} ${cause instanceof Error ? causeOf(cause, '') : ''}`
}
