// Runs one schedule: claims its times, and skips those during a run or missed ones.

import { setTimeout as pauseUnlessAborted } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { Leases, WorkLease } from '../../content/leases.js'
import { type MainConnection, serviceTransaction, type WriteDatabase } from '../../database/database.js'
import type { Dialect } from '../../database/dialect.js'
import { insertMissing } from '../../database/portable-sql.js'
import { ApiError } from '../../foundation/errors/errors.js'
import type { ContentService } from '../../foundation/public/content-service.js'
import type { Schedule } from '../../foundation/public/schedules.js'
import { elapsed, pause } from '../../foundation/runtime/clock.js'
import { codeLog, failureOf, runCode } from '../../foundation/runtime/project-code.js'
import type { ScheduleTimes } from './times.js'

/** Times are milliseconds since 1970. */
interface RunnerOptions extends ScheduledRun {
  readonly times: ScheduleTimes
  /** Time of the last run, by any process. */
  readonly last: number
  readonly now: number
}

export interface Runner {
  /** The next time; null: there is none. */
  next(): number | null
  /** Starts a run if one is due. */
  look(now: number): void
  /** Aborts the run, and waits at most `within` milliseconds for its end. */
  close(within: number): Promise<void>
}

/** Milliseconds after which a time counts as missed. */
const lateness = 60_000
/** Milliseconds between attempts to claim. */
const retryAfter = 1_000

export function openRunner(options: RunnerOptions): Runner {
  const { schedule, times, log, now: start } = options
  const closing = new AbortController()
  const claim = openClaiming(options, closing.signal)
  let due = dueAtStart(options)
  let next = times.next(start)
  let working: Promise<void> | null = null
  let running: ClaimedTime | null = null

  /** Claims and runs all due times. */
  async function work(): Promise<void> {
    while (due !== null && !closing.signal.aborted) {
      const { tried, claimed } = await claim(() => due)
      if (due === tried) due = null
      if (claimed === null) continue
      if (closing.signal.aborted) return releaseClaim(options, claimed)
      running = claimed
      await runSchedule(claimed, closing.signal, options)
      running = null
    }
  }

  return {
    next: () => (due !== null && working === null ? 0 : next),
    look: (now) => {
      if (next !== null && next <= now) {
        const time = times.last(Math.max(next - 1, now - lateness - 1), now)
        next = times.next(now)
        if (running !== null) passOver(options, time ?? now, running)
        else if (time !== null || schedule.catchUp) due = time ?? now
        else log.warn({ schedule: schedule.name }, 'a schedule was missed: this process was paused at its time')
      }
      if (due === null || working !== null || closing.signal.aborted) return
      working = work().finally(() => {
        working = null
      })
    },
    close: async (within) => {
      closing.abort()
      const ended = await Promise.race([Promise.resolve(working).then(() => true), pause(within).then(() => false)])
      if (!ended) log.warn({ schedule: schedule.name }, 'a schedule did not end in time for the shutdown')
    },
  }
}

const detailsOf = ({ schedule }: ScheduledRun, time: number) => ({ schedule: schedule.name, time: new Date(time).toISOString() })

/** The last time missed while no process was running, if it is recent or must be caught up; null: none. */
function dueAtStart(options: RunnerOptions): number | null {
  const { schedule, times, last, now, log } = options
  const missed = times.last(last, now)
  if (missed === null || schedule.catchUp === true || now - missed <= lateness) return missed
  log.warn(detailsOf(options, missed), 'a schedule was missed: no process ran it at its time')
  return null
}

/** A time during the previous run is skipped. */
function passOver(options: ScheduledRun, time: number, running: ClaimedTime): void {
  const { schedule, claims, log } = options
  const details = detailsOf(options, time)
  log.warn(details, 'a schedule was skipped: its former run has not ended')
  claims.pass(schedule.name, time, running).catch((error) => log.error({ err: error, ...details }, 'a schedule could not be passed'))
}

/** A time claimed during shutdown is returned to other processes and the next start. */
const releaseClaim = ({ schedule, log }: ScheduledRun, claimed: ClaimedTime): Promise<void> =>
  claimed.giveBack().catch((error: unknown) => {
    log.error(
      { err: error, schedule: schedule.name, time: new Date(claimed.time).toISOString() },
      'a schedule could not be handed over to another process',
    )
  })

/** The last attempted time, and its claim; null: this process does not run it. */
interface Tried {
  readonly tried: number
  readonly claimed: ClaimedTime | null
}

/** Claims a due time; retries while another process runs the schedule, because that may have ended, until it is too late. */
function openClaiming(options: ScheduledRun, stopping: AbortSignal): (due: () => number | null) => Promise<Tried> {
  const { schedule, claims, log } = options
  return async (due) => {
    const until = elapsed() + lateness
    for (let tried = due()!; ; tried = due() ?? tried) {
      const details = detailsOf(options, tried)
      const outcome = await claims.claim(schedule.name, tried).catch((error: unknown) => {
        log.error({ err: error, ...details }, 'a schedule could not be claimed; another try follows')
        return { kind: 'busy' as const }
      })
      if (outcome.kind === 'mine') {
        if (outcome.claimed.lease.isTakenOver) log.warn(details, 'the former run of a schedule did not end: its process has ended')
        return { tried, claimed: outcome.claimed }
      }
      if (outcome.kind === 'done' || stopping.aborted) return { tried, claimed: null }
      if (outcome.kind === 'early') {
        await pauseUnlessAborted(Math.min(outcome.by, retryAfter), undefined, { signal: stopping }).catch(() => {})
        continue
      }
      if (elapsed() > until) {
        log.warn(details, 'a schedule was skipped: its former run has not ended')
        return { tried, claimed: null }
      }
      await pauseUnlessAborted(retryAfter, undefined, { signal: stopping }).catch(() => {})
    }
  }
}

interface ScheduledRun {
  readonly schedule: Schedule
  readonly claims: ScheduleClaims
  readonly services: ContentService
  readonly log: Logger
  readonly limits: { readonly scheduleTimeout: number }
}

/** Runs a schedule for a claimed time, and releases the claim. Never throws; failures are logged. `stopping`: the service stops. */
async function runSchedule({ time, lease, doubted }: ClaimedTime, stopping: AbortSignal, options: ScheduledRun): Promise<void> {
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

/**
 * Calls the function, and resolves only after it has ended, so that runs never overlap. @throws its error, with the name of the schedule
 */
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

/** A time of a schedule that this process runs. */
interface ClaimedTime {
  /** Milliseconds since 1970. */
  readonly time: number
  readonly lease: WorkLease
  /** Aborted once another process has taken over, or may because the heartbeat could not be written. */
  readonly doubted: AbortSignal
  /** Returns the time to other processes and the next start. */
  giveBack(): Promise<void>
}

/**
 * The result of a claim. `done`: another process claimed this time or a later one. `busy`: the previous run is in progress. `early`: by the
 * clock of the database, the time is this many milliseconds ahead.
 */
type ClaimOutcome =
  | { readonly kind: 'mine'; readonly claimed: ClaimedTime }
  | { readonly kind: 'done' | 'busy' }
  | { readonly kind: 'early'; readonly by: number }

interface ScheduleClaims {
  readonly clock: DatabaseClock
  /** Registers new schedules, starting now. Resolves to the last time of each. */
  register(names: readonly string[]): Promise<ReadonlyMap<string, number>>
  claim(name: string, time: number): Promise<ClaimOutcome>
  /** Skips a time while this process runs the schedule for an earlier one. */
  pass(name: string, time: number, running: ClaimedTime): Promise<void>
}

const tableName = 'octavo_schedule_times'
const table = sql.table(tableName)

export interface ClaimDatabase {
  readonly database: MainConnection
  readonly writer: WriteDatabase
  readonly dialect: Pick<Dialect, 'timeOfDay'>
}

/** Sets the last time, unless it is later already. */
const taking = (name: string, time: number) => sql`update ${table} set last_time = ${time} where name = ${name} and last_time < ${time}`

/** Restores `last` as the last time after a claim, and releases the lease. */
async function giveBack(
  writer: WriteDatabase,
  lease: WorkLease,
  { name, time, last }: { readonly name: string; readonly time: number; readonly last: number },
): Promise<void> {
  try {
    await serviceTransaction(writer, async (transaction) => {
      if (!(await lease.confirm(transaction))) return
      transaction.follow(sql`update ${table} set last_time = ${last} where name = ${name} and last_time = ${time}`)
    })
  } finally {
    await lease.release()
  }
}

export function openClaims({ database, writer, dialect: { timeOfDay } }: ClaimDatabase, leases: Pick<Leases, 'acquire'>): ScheduleClaims {
  const clock = openDatabaseClock(async () => {
    const [row] = await database.rows<{ readonly moment: number }>(sql`select ${timeOfDay} as moment`)
    return Number(row!.moment)
  })
  const read = async (names: readonly string[]): Promise<ReadonlyMap<string, number>> => {
    const rows = await database.rows<{ readonly name: string; readonly last_time: number; readonly moment: number }>(
      sql`select name, last_time, ${timeOfDay} as moment from ${table} where name in (${sql.join(names)})`,
    )
    if (rows.length > 0) clock.set(Number(rows.at(-1)!.moment))
    return new Map(rows.map(({ name, last_time }) => [name, Number(last_time)]))
  }

  return {
    clock,
    register: async (names) => {
      const known = await read(names)
      const missing = names.filter((name) => !known.has(name))
      if (missing.length === 0) return known
      await serviceTransaction(writer, async (transaction) => {
        for (const name of missing) transaction.follow(insertMissing(tableName, ['name', 'last_time'], sql`values (${name}, ${timeOfDay})`))
      })
      return read(names)
    },
    claim: async (name, time) => {
      const last = (await read([name])).get(name)
      if (last === undefined || last >= time) return { kind: 'done' }
      // Prevents a process with a fast clock from being first.
      const now = clock.now()
      if (now < time) return { kind: 'early', by: time - now }
      const doubt = new AbortController()
      let isDone = false
      const lease = await leases.acquire(`schedule ${name}`, {
        doubted: () => doubt.abort(),
        also: async (transaction) => {
          isDone = (await transaction.run(taking(name, time))).rows !== 1
          return !isDone
        },
      })
      if (lease === null) return { kind: isDone ? 'done' : 'busy' }
      const claimed = { time, lease, doubted: doubt.signal, giveBack: () => giveBack(writer, lease, { name, time, last }) }
      return { kind: 'mine', claimed }
    },
    pass: (name, time, { lease }) =>
      serviceTransaction(writer, async (transaction) => {
        if (await lease.confirm(transaction)) transaction.follow(taking(name, time))
      }),
  }
}

/** A clock that continues from the last known time of the database. Times are milliseconds since 1970. */
interface DatabaseClock {
  /** Never ahead of the database, unless its clock is set back. */
  now(): number
  /** Sets the clock to the database's current time. */
  set(moment: number): void
  /** Reads the time of the database unless it was read recently. Keeps running if that fails. */
  look(): Promise<void>
}

/** Milliseconds between reads of the database clock: clocks may be set, and machines suspended. */
const goodFor = 10_000

/** Not valid until it is set. */
function openDatabaseClock(ask: () => Promise<number>): DatabaseClock {
  let said = { moment: Number.NaN, at: Number.NEGATIVE_INFINITY }
  // The response took time, so its value is in the past.
  const set = (moment: number): void => {
    said = { moment, at: performance.now() }
  }
  return {
    now: () => Math.floor(said.moment + performance.now() - said.at),
    set,
    look: async () => {
      if (performance.now() - said.at > goodFor) await ask().then(set, () => {})
    },
  }
}
