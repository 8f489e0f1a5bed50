// Decides when one schedule is run: claims its times, and passes those that come while it runs or that were missed.
import { setTimeout as pauseUnlessAborted } from 'node:timers/promises'
import { elapsed, pause } from '../../foundation/runtime/clock.js'
import type { ClaimedTime } from './claims.js'
import { runSchedule, type ScheduledRun } from './run.js'
import type { ScheduleTimes } from './times.js'

/** What a schedule is run with. Times are milliseconds since 1970. */
export interface RunnerOptions extends ScheduledRun {
  readonly times: ScheduleTimes
  /** The time for which it was run last, by any process. */
  readonly last: number
  readonly now: number
}

/** One schedule. */
export interface Runner {
  /** The next time; null: there is none any more. */
  next(): number | null
  /** Begins a run if a time has come. */
  look(now: number): void
  /** Aborts the run, and waits for at most `within` milliseconds until it has ended. */
  close(within: number): Promise<void>
}

/** Milliseconds after its time for which a run may begin; later it has been missed. */
const lateness = 60_000
/** Milliseconds until a claim is tried again. */
const retryAfter = 1_000

export function openRunner(options: RunnerOptions): Runner {
  const { schedule, times, log, now: start } = options
  const closing = new AbortController()
  const claim = openClaiming(options, closing.signal)
  let due = dueAtStart(options)
  let next = times.next(start)
  let working: Promise<void> | null = null
  let running: ClaimedTime | null = null

  /** Claims what is due, and runs it, until nothing is. */
  async function work(): Promise<void> {
    while (due !== null && !closing.signal.aborted) {
      const { tried, claimed } = await claim(() => due)
      if (due === tried) due = null
      if (claimed === null) continue
      if (closing.signal.aborted) return giveBack(options, claimed)
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

/** What came while no process ran: the last time, if it was missed by little, or if it is to be made up for; null: nothing. */
function dueAtStart(options: RunnerOptions): number | null {
  const { schedule, times, last, now, log } = options
  const missed = times.last(last, now)
  if (missed === null || schedule.catchUp === true || now - missed <= lateness) return missed
  log.warn(detailsOf(options, missed), 'a schedule was missed: no process ran it at its time')
  return null
}

/** A time that comes while the former run goes on is not made up for. */
function passOver(options: ScheduledRun, time: number, running: ClaimedTime): void {
  const { schedule, claims, log } = options
  const details = detailsOf(options, time)
  log.warn(details, 'a schedule was skipped: its former run has not ended')
  claims.pass(schedule.name, time, running).catch((error) => log.error({ err: error, ...details }, 'a schedule could not be passed'))
}

/** A time that was claimed while the service began to stop is run by another process, or after the next start. */
const giveBack = ({ schedule, log }: ScheduledRun, claimed: ClaimedTime): Promise<void> =>
  claimed.giveBack().catch((error: unknown) => {
    log.error({ err: error, schedule: schedule.name, time: new Date(claimed.time).toISOString() }, 'a schedule could not be left to others')
  })

/** The time that was tried last, and its claim; null: this process is not to run it. */
interface Tried {
  readonly tried: number
  readonly claimed: ClaimedTime | null
}

/** Claims the time that is due; tries again while another process runs the schedule, in case that process has ended, until it is too late. */
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
