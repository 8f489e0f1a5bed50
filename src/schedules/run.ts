// One run of a schedule: its function, with signs of life meanwhile. It is over when the function has ended, however long that takes.
import type { Logger } from 'pino'
import { ApiError } from '../errors/errors.js'
import type { ContentService } from '../public/content-service.js'
import type { Schedule } from '../public/schedules.js'
import { elapsed } from '../runtime/clock.js'
import { codeLog } from '../runtime/code-log.js'
import { heartbeat, heartbeatTimeout } from '../runtime/owners.js'
import { failureOf, runCode } from '../runtime/project-code.js'
import type { ScheduleClaims } from './claims.js'

/** What a run needs. */
export interface ScheduledRun {
  readonly schedule: Schedule
  readonly claims: ScheduleClaims
  readonly services: ContentService
  readonly log: Logger
  readonly limits: { readonly scheduleTimeout: number }
}

/** Runs a schedule that was claimed for `time`, and releases it. Never throws: what fails is logged. `stopping`: the service stops. */
export async function runSchedule(time: number, stopping: AbortSignal, options: ScheduledRun): Promise<void> {
  const { schedule, claims, log } = options
  const details = { schedule: schedule.name, time: new Date(time).toISOString() }
  const ending = new AbortController()
  const end = (reason: string) => ending.abort(new ApiError('ServiceUnavailableError', reason))
  const stop = () => end('The service is stopping')
  stopping.addEventListener('abort', stop)
  const beating = beat(claims, schedule.name, () => end('Another process has taken over'))
  const started = elapsed()
  try {
    await call(time, ending, details, options)
    log.info({ ...details, milliseconds: Math.round(elapsed() - started) }, 'a schedule ran')
  } catch (error) {
    log.error({ err: error, ...details }, 'a schedule failed')
  } finally {
    clearInterval(beating)
    stopping.removeEventListener('abort', stop)
    await claims.release(schedule.name).catch((error) => log.error({ err: error, ...details }, 'a schedule could not be released'))
  }
}

/** Calls the function, and resolves only when it has ended: there is never a second run beside it. @throws what it threw, named */
async function call(
  time: number,
  ending: AbortController,
  details: object,
  { schedule, services, log, limits }: ScheduledRun,
): Promise<void> {
  const code = { name: `the schedule ${schedule.name}`, requestId: null }
  let returned: Promise<unknown> = Promise.resolve()
  try {
    await runCode(code, limits.scheduleTimeout, (timeout) => {
      timeout.addEventListener('abort', () => ending.abort(timeout.reason))
      const given = { ...services, name: schedule.name, time: new Date(time), log: codeLog(log, code.name), signal: ending.signal }
      returned = (async () => schedule.run(given))()
      return returned
    })
  } catch (error) {
    const isLate = error === ending.signal.reason
    if (isLate) log.error({ err: error, ...details }, 'a schedule takes too long; its signal is aborted')
    await returned.catch(() => {})
    throw isLate ? error : failureOf(code.name, error)
  }
}

/** Shows signs of life; calls `lost` once another process has taken over, or may do so because they cannot be written. */
function beat(claims: ScheduleClaims, name: string, lost: () => void): NodeJS.Timeout {
  let seen = elapsed()
  const timer = setInterval(() => {
    claims.beat(name).then(
      (isMine) => {
        if (isMine) seen = elapsed()
        else lost()
      },
      () => elapsed() - seen > heartbeatTimeout - heartbeat && lost(),
    )
  }, heartbeat)
  timer.unref()
  return timer
}
