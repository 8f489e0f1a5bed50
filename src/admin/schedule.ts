// Carries out scheduled actions at their times by the clock of the database, in one process at a time. Times that passed while no process
// was running are made up for at the start. A process that learns of no action reads one row every half minute.
import { sql } from 'kysely'
import { scheduledTable } from '../content/documents/store/rows.js'
import { openLeases } from '../content/leases.js'
import { ApiError } from '../foundation/errors/errors.js'
import { within } from '../foundation/runtime/clock.js'
import { openWakeUp } from '../foundation/runtime/notifier.js'
import type { WithInstallation } from '../project/code/content-service.js'
import type { DueAction } from './content/scheduled-actions.js'
import type { Administration, AdministrationParts } from './context.js'

/** The scheduled actions of a service. */
export interface Schedule {
  /** Begins to carry out actions. */
  start(): void
  /** Looks for due actions now. */
  look(): void
  /** Stops after the current action, but waits only briefly for its end. */
  close(): Promise<void>
}

export interface ScheduleOptions
  extends Pick<AdministrationParts, 'config' | 'database' | 'writer' | 'timeOfDay' | 'identification' | 'log'> {
  /** Runs work with the installation in force. */
  readonly withInstallation: WithInstallation
  open(): Promise<Administration>
}

/** Maximum milliseconds between looks: other processes may schedule actions, and end before they carry them out. */
const longestWait = 30_000
/** Milliseconds until the next attempt while another process is at work, and after an error that may not be final. */
const retryAfter = 2_000
const maxAttempts = 3
const actionsPerRead = 50
/** Maximum milliseconds to wait for the current action on shutdown, and maximum share of the shutdown time. */
const longestClosing = 5_000
const closingShare = 1 / 5

export function openSchedule(options: ScheduleOptions): Schedule {
  const { config, database, writer, timeOfDay, log } = options
  const attempts = new Map<number, number>()
  const leases = openLeases(database, writer, (error) => log.error({ err: error }, 'scheduled actions could not show a sign of life'))
  const wakeUp = openWakeUp()
  let working: Promise<void> | null = null
  let isRunning = false

  /** Milliseconds until the next action by the clock of the database; 0: it is due. */
  async function timeToNext(): Promise<number> {
    const [row] = await database.rows<{ readonly moment: number; readonly due: number | null }>(
      sql`select ${timeOfDay} as moment, (select min(due_at) from ${sql.table(scheduledTable)} where failed_at = ${0}) as due`,
    )
    return row!.due === null ? longestWait : Math.max(0, Number(row!.due) - Number(row!.moment))
  }

  /** Carries out due actions, and returns the milliseconds until the next look. */
  async function workOnce(): Promise<number> {
    // A database that cannot be reached is reported elsewhere.
    const wait = await timeToNext().catch(() => longestWait)
    if (wait > 0) return wait
    const lease = await leases.acquire('scheduled actions')
    if (lease === null) return retryAfter
    try {
      const { readDue } = await import('./content/scheduled-actions.js')
      const due = await readDue(database, timeOfDay, actionsPerRead)
      let isRetried = false
      for (const action of due) {
        if (!isRunning || lease.isLost()) break
        isRetried = !(await carryOutOnce(options, action, attempts)) || isRetried
      }
      return isRetried ? retryAfter : 0
    } finally {
      await lease.release()
    }
  }

  async function work(): Promise<void> {
    while (isRunning) {
      wakeUp.forget()
      const wait = await workOnce().catch((error: unknown) => {
        if (isRunning) log.error({ err: error }, 'scheduled actions could not be carried out; another attempt follows')
        return longestWait
      })
      // Not longer, because clocks may be set.
      if (wait > 0) await wakeUp.wait(Math.min(longestWait, wait))
    }
  }

  return {
    start: () => {
      isRunning = true
      working = work()
    },
    look: wakeUp.now,
    close: async () => {
      isRunning = false
      wakeUp.now()
      if (working !== null) await within(Math.min(longestClosing, config.limits.drainTimeout * closingShare), working)
      leases.close()
    },
  }
}

/** Carries out an action, or records why not; false: another attempt follows. */
async function carryOutOnce(
  { open, identification, withInstallation, log }: ScheduleOptions,
  action: DueAction,
  attempts: Map<number, number>,
): Promise<boolean> {
  const { carryOut, recordFailure } = await import('./content/scheduled-actions.js')
  const { id, type, documentId, locale, action: verb } = action
  const details = { type, documentId, action: verb, ...(locale === '' ? {} : { locale }) }
  const administration = await open()
  try {
    // The rights as of the last commit.
    await identification.access()
    await carryOut(administration, withInstallation, action)
    log.info(`A scheduled ${verb} of ${documentId} (${type}) was carried out`)
  } catch (error) {
    const isFinal = error instanceof ApiError && error.status < 500
    const count = (attempts.get(id) ?? 0) + 1
    attempts.set(id, count)
    log.error({ err: error, ...details }, 'a scheduled action was not carried out')
    if (!isFinal && count < maxAttempts) return false
    await recordFailure(administration, action, error)
  }
  attempts.delete(id)
  return true
}
