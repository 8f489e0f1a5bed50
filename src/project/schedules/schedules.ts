// Runs the schedules of a project: each at its times, in one process at a time, without overlap.
import type { Logger } from 'pino'
import { openLeases } from '../../content/leases.js'
import type { ContentService } from '../../foundation/public/content-service.js'
import type { Schedule } from '../../foundation/public/schedules.js'
import { type ClaimDatabase, openClaims, openRunner, type Runner } from './runner.js'
import { readTimes } from './times.js'

interface ScheduleOptions extends ClaimDatabase {
  readonly services: ContentService
  readonly log: Logger
  readonly limits: { readonly scheduleTimeout: number; readonly drainTimeout: number }
}

export interface Schedules {
  start(): Promise<void>
  /** Aborts runs, and waits briefly for their end. */
  close(): Promise<void>
}

/** Maximum milliseconds to wait for runs on shutdown, and maximum share of the shutdown time. */
const longestClosing = 5_000
const closingShare = 1 / 5

/** Maximum milliseconds between checks of the clock, which may be set, and the process suspended. */
const longestWait = 30_000

/** @throws ConfigError for an invalid pattern */
export function openSchedules(schedules: readonly Schedule[], options: ScheduleOptions): Schedules {
  const { database, writer, log, limits } = options
  const timed = schedules.map((schedule) => ({ schedule, times: readTimes(schedule) }))
  const leases = openLeases(database, writer, (error) => log.error({ err: error }, 'a schedule could not show a sign of life'))
  const claims = openClaims(options, leases)
  const { clock } = claims
  const runners: Runner[] = []
  let timer: NodeJS.Timeout | null = null
  let isClosed = false

  /** Runs due schedules and waits for the next time of any. */
  async function tick(): Promise<void> {
    await clock.look()
    if (isClosed) return
    const now = clock.now()
    for (const runner of runners) runner.look(now)
    const next = Math.min(...runners.map((runner) => runner.next() ?? Number.POSITIVE_INFINITY))
    timer = setTimeout(tick, Math.min(longestWait, Math.max(1, next - clock.now())))
    timer.unref()
  }

  return {
    start: async () => {
      const last = await claims.register(timed.map(({ schedule }) => schedule.name))
      await clock.look()
      const now = clock.now()
      for (const { schedule, times } of timed) {
        const runner = openRunner({ ...options, schedule, times, claims, last: last.get(schedule.name) ?? now, now })
        runners.push(runner)
        const next = times.next(now)
        log.info({ schedule: schedule.name, cron: schedule.cron, next: next === null ? 'never' : new Date(next).toISOString() }, 'schedule')
      }
      void tick()
    },
    close: async () => {
      isClosed = true
      if (timer !== null) clearTimeout(timer)
      const within = Math.min(longestClosing, limits.drainTimeout * closingShare)
      await Promise.all(runners.map((runner) => runner.close(within)))
      leases.close()
    },
  }
}
