// Jobs of the reader pool: reads, their queues, outcomes and measured costs.
import { ApiError, validationError } from '../../../foundation/errors/errors.js'
import type { PlanHandle, ReadBytes, ReadResult } from '../../database.js'
import { responseTooLarge } from '../../response/write.js'

/** A read that was asked for. */
export interface Job {
  readonly plan: PlanHandle
  readonly values: readonly unknown[]
  /** In milliseconds of the monotonic clock (`elapsed`). */
  readonly deadline: number
  /** True once the client has left. */
  isGone(): boolean
  readonly resolve: (answer: ReadResult) => void
  readonly reject: (error: Error) => void
  /** True once the job was answered or refused. */
  over: boolean
}

/** Outcome of a job on a thread. */
export type ReadOutcome =
  | { readonly kind: 'answer'; readonly answer: ReadBytes }
  /** The response did not fit into a slot. */
  | { readonly kind: 'own'; readonly bytes: Uint8Array }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly error: Error }

/** Refuses a job, unless it is over already. */
export function refuse(job: Job, error: Error): void {
  if (job.over) return
  job.over = true
  job.reject(error)
}

/** Refuses a job whose client has left or whose deadline has passed. Returns true if no thread needs to work on it. */
export function isFinished(job: Job, now: number): boolean {
  if (!job.over && job.isGone()) refuse(job, new ApiError('ClientClosedRequestError', 'The client has left'))
  if (!job.over && job.deadline <= now) refuse(job, new ApiError('ServiceUnavailableError', 'The read took too long'))
  return job.over
}

/** Answers a job, unless the responses that are still being sent use too much memory. */
export function settle(job: Job, outcome: Exclude<ReadOutcome, { kind: 'stopped' }>, buffered: BufferedResponses): void {
  if (outcome.kind === 'failed') refuse(job, outcome.error)
  else if (outcome.kind === 'own') lend(job, outcome.bytes, buffered)
  else {
    job.over = true
    job.resolve(outcome.kind === 'nothing' ? null : outcome.answer)
  }
}

/** The responses outside of slots that were not released yet: with slow clients, a server runs out of their memory first. */
export interface BufferedResponses {
  readonly maxBytes: number
  bytes: number
}

function lend(job: Job, bytes: Uint8Array, buffered: BufferedResponses): void {
  if (buffered.bytes > 0 && buffered.bytes + bytes.length > buffered.maxBytes) {
    refuse(job, new ApiError('ServiceUnavailableError', 'Too many answers are being sent'))
    return
  }
  buffered.bytes += bytes.length
  job.over = true
  let isReleased = false
  const release = () => {
    if (!isReleased) buffered.bytes -= bytes.length
    isReleased = true
  }
  job.resolve({ bytes, release })
}

/** A bounded queue of jobs that wait for a thread. */
export interface JobQueue {
  readonly jobs: Job[]
  /** The most jobs that may wait; 0 once the queue is closed. */
  limit: number
}

/** Appends a job, or refuses it if the queue is full. */
export function enqueue({ jobs, limit }: JobQueue, job: Job): void {
  if (jobs.length >= limit) refuse(job, tooMany())
  else jobs.push(job)
}

/** Removes the jobs that are over, so that they take no place from others. */
export function dropOver({ jobs }: JobQueue, now: number): void {
  let kept = 0
  for (const job of jobs) if (!isFinished(job, now)) jobs[kept++] = job
  jobs.length = kept
}

/** Refuses the jobs of a queue, and every further one. */
export function closeQueue(queue: JobQueue): void {
  queue.limit = 0
  for (const job of queue.jobs) refuse(job, tooMany())
}

/** The error of a read that is refused because others wait. */
export const tooMany = (): ApiError => new ApiError('ServiceUnavailableError', 'Too many reads are waiting')

/** Errors of SQLite for statements beyond its limits, and of V8 for deep nesting. */
const beyondPreparing =
  /^(SqliteError: (Expression tree is too large|too many |at most \d+ tables in a join|parser stack overflow|statement too long|LIKE or GLOB pattern too complex)|RangeError: (Maximum call stack size exceeded|Too many parameter values))/

/**
 * Returns the error of a failed read, which is a 400 if the request asked for too much at once. `text` begins with the name of the error;
 * `code` is SQLite's.
 */
export function failure(text: string, code?: string): Error {
  if (text.startsWith('RangeError: Invalid string length')) return responseTooLarge()
  return beyondPreparing.test(text)
    ? validationError('The request is too deep or too complex', {})
    : Object.assign(new Error(text), { code })
}

/** `fresh`: its plan was not seen before. */
export type Cost = 'short' | 'light' | 'fresh' | 'heavy'

/** Upper limit of short reads, and lower limit of heavy ones, in milliseconds. */
const short = 0.5
const heavy = 15
/** Initial average in milliseconds: the first run of a plan is slower, since it prepares statements and has no cached pages. */
const expected = 1

export interface Costs {
  of(plan: PlanHandle): Cost
  /** Notes a run that took `milliseconds`; one that was stopped would have taken longer. */
  note(plan: PlanHandle, milliseconds: number, wasStopped: boolean): void
}

export function createCosts(): Costs {
  /** The milliseconds that plans took of late. */
  const paces = new WeakMap<PlanHandle, number>()
  return {
    of: (plan) => {
      const pace = paces.get(plan)
      if (pace === undefined) return 'fresh'
      return pace < short ? 'short' : pace < heavy ? 'light' : 'heavy'
    },
    note: (plan, milliseconds, wasStopped) => {
      const pace = paces.get(plan) ?? expected
      paces.set(plan, wasStopped ? Math.max(pace, milliseconds) : pace + (milliseconds - pace) / 8)
    },
  }
}
