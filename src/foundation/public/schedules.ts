// The public types of schedules: code of a project that runs at certain times.
import type { CodeLog, ContentService } from './content-service.js'

/** The argument of a scheduled function. `documents`, `transaction`, `upload` and `mail` are without restrictions. */
export interface ScheduleCall extends ContentService {
  readonly name: string
  /** The scheduled time; the function may start somewhat later. */
  readonly time: Date
  readonly log: CodeLog
  /** Aborted after `limits.scheduleTimeout`, when the service stops, and when another process has taken over. */
  readonly signal: AbortSignal
}

/** Code that runs at certain times, in one of the processes that serve the project's database. */
export interface Schedule {
  /** Unique in the project, and lasting: when it ran is stored under it. */
  readonly name: string
  /** Five fields (`30 2 * * *`), six with seconds first, or a nickname such as `@hourly`. */
  readonly cron: string
  /** An IANA name such as `Europe/Berlin`; default: the time zone of the process. */
  readonly timeZone?: string
  /** True: if times have passed while no process served the project, the function runs once for the last of them. Default: they are skipped. */
  readonly catchUp?: boolean
  run(call: ScheduleCall): unknown
}
