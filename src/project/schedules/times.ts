// The times of a schedule, from its cron pattern. Times are milliseconds since 1970.
import { Cron } from 'croner'
import { ConfigError } from '../../foundation/errors/errors.js'
import type { Schedule } from '../../foundation/public/schedules.js'

export interface ScheduleTimes {
  /** The first time after `moment`; null: there is none. */
  next(moment: number): number | null
  /** The last time after `since`, up to `until`, if a few steps find it; null: there is none. */
  last(since: number, until: number): number | null
}

/** Steps of the backward search: a minute, an hour, a day, a month, a year, further. */
const steps = [60_000, 3_600_000, 86_400_000, 2_764_800_000, 31_968_000_000, Number.POSITIVE_INFINITY]
/** Maximum number of times examined after a step: more than seconds in a minute. */
const mostTimes = 100

/** @throws ConfigError for an invalid pattern or an unknown time zone */
export function readTimes({ name, cron, timeZone }: Schedule): ScheduleTimes {
  const pattern = openPattern(name, cron, timeZone)
  const next = (moment: number): number | null => pattern.nextRun(new Date(moment))?.getTime() ?? null
  return {
    next,
    last: (since, until) => {
      for (const step of steps) {
        let found = null as number | null
        let time = next(Math.max(since, until - step))
        for (let count = 0; time !== null && time <= until && count < mostTimes; count++) [found, time] = [time, next(time)]
        if (found !== null || until - step <= since) return found
      }
      return null
    },
  }
}

/** @throws ConfigError for an invalid pattern or time zone */
export function checkSchedules(schedules: readonly Schedule[]): void {
  for (const schedule of schedules) readTimes(schedule)
}

function openPattern(name: string, cron: string, timeZone: string | undefined): Cron {
  try {
    const pattern = new Cron(cron, { ...(timeZone === undefined ? {} : { timezone: timeZone }) })
    pattern.nextRun()
    return pattern
  } catch (error) {
    const zone = timeZone === undefined || isTimeZone(timeZone) ? '' : ` There is no time zone "${timeZone}".`
    const reason = zone === '' ? ` ${(error as Error).message.replace(/^Cron\w+: /, '').replace(/\.$/, '')}.` : zone
    throw new ConfigError(
      `Invalid configuration (octavo.config): schedules: the cron pattern "${cron}" of "${name}" cannot be used.${reason}`,
    )
  }
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
