// One run of a schedule. It is over when its function has ended, however long that takes.
import type { Logger } from 'pino'
import { ApiError } from '../../foundation/errors/errors.js'
import type { ContentService } from '../../foundation/public/content-service.js'
import type { Schedule } from '../../foundation/public/schedules.js'
import { elapsed } from '../../foundation/runtime/clock.js'
import { codeLog } from '../../foundation/runtime/code-log.js'
import { failureOf, runCode } from '../../foundation/runtime/project-code.js'
import type { ClaimedTime, ScheduleClaims } from './claims.js'

/** What a run needs. */
export interface ScheduledRun {
  readonly schedule: Schedule
  readonly claims: ScheduleClaims
  readonly services: ContentService
  readonly log: Logger
  readonly limits: { readonly scheduleTimeout: number }
}

/** Runs a schedule for the time that was claimed, and releases it. Never throws: what fails is logged. `stopping`: the service stops. */
export async function runSchedule({ time, lease, doubted }: ClaimedTime, stopping: AbortSignal, options: ScheduledRun): Promise<void> {
  const { schedule, log } = options
  const details = { schedule: schedule.name, time: new Date(time).toISOString() }
  const ending = new AbortController()
  const end = (reason: string) => ending.abort(new ApiError('ServiceUnavailableError', reason))
  const stop = () => end('The service is stopping')
  stopping.addEventListener('abort', stop)
  doubted.addEventListener('abort', () => end('Another process has taken over'))
  const started = elapsed()
  try {
    await call(time, ending, details, options)
    log.info({ ...details, milliseconds: Math.round(elapsed() - started) }, 'a schedule ran')
  } catch (error) {
    log.error({ err: error, ...details }, 'a schedule failed')
  } finally {
    stopping.removeEventListener('abort', stop)
    await lease.release().catch((error) => log.error({ err: error, ...details }, 'a schedule could not be released'))
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
