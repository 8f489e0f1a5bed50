// A read on its way through the pool: what is asked, who waits for it, what it is refused with.
import { ApiError, validationError } from '../../../errors/errors.js'
import { tooLarge } from '../../answer/sink.js'
import type { PlanHandle, ReadAnswer } from '../../database.js'

export interface Job {
  readonly plan: PlanHandle
  readonly values: readonly unknown[]
  /** By the monotonic clock of the main thread; milliseconds. */
  readonly deadline: number
  /** True once nobody waits for the answer. */
  isGone(): boolean
  readonly resolve: (answer: ReadAnswer) => void
  readonly reject: (error: Error) => void
  /** Answered or refused. */
  over: boolean
}

/** Refuses a job; one that is over already stays as it is. */
export function refuse(job: Job, error: Error): void {
  if (job.over) return
  job.over = true
  job.reject(error)
}

/** Refuses a job that nobody waits for any more, or that is over its time. True: it need not be worked on. */
export function isOver(job: Job, now: number): boolean {
  if (!job.over && job.isGone()) refuse(job, new ApiError('ClientClosedRequestError', 'The client has left'))
  if (!job.over && job.deadline <= now) refuse(job, new ApiError('ServiceUnavailableError', 'The read took too long'))
  return job.over
}

export const tooMany = (): ApiError => new ApiError('ServiceUnavailableError', 'Too many reads are waiting')

/** What a database says of statements that are beyond what it prepares, and the engine of what is nested too deeply. */
const beyondPreparing =
  /^(SqliteError: (Expression tree is too large|too many |at most \d+ tables in a join|parser stack overflow|statement too long|LIKE or GLOB pattern too complex)|RangeError: (Maximum call stack size exceeded|Too many parameter values))/

/** The failure of a read as an error: a refusal where the request asked for too much at once. `text` begins with the error's name, `code` is SQLite's. */
export function failure(text: string, code?: string): Error {
  if (text.startsWith('RangeError: Invalid string length')) return tooLarge()
  return beyondPreparing.test(text)
    ? validationError('The request is too deep or too complex', {})
    : Object.assign(new Error(text), { code })
}
