// Jobs of the reader pool: reads, their queues, outcomes and measured costs.
import { ApiError, validationError } from '../../../foundation/errors/errors.js'
import type { PlanHandle, ReadBytes, ReadResult } from '../../database.js'
import { responseTooLarge } from '../../response/write.js'

export interface Job {
  readonly plan: PlanHandle
  readonly values: readonly unknown[]
  /** In milliseconds of the monotonic clock (`elapsed`). */
  readonly deadline: number
  /** True once the client has disconnected. */
  isGone(): boolean
  readonly resolve: (answer: ReadResult) => void
  readonly reject: (error: Error) => void
  /** True once the job was resolved or rejected. */
  over: boolean
}

export type ReadOutcome =
  | { readonly kind: 'answer'; readonly answer: ReadBytes }
  /** The response did not fit into a slot. */
  | { readonly kind: 'own'; readonly bytes: Uint8Array }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly error: Error }

export function refuse(job: Job, error: Error): void {
  if (job.over) return
  job.over = true
  job.reject(error)
}

/** Rejects a job whose client has disconnected or whose deadline has passed. Returns true if the job is over. */
export function isFinished(job: Job, now: number): boolean {
  if (!job.over && job.isGone()) refuse(job, new ApiError('ClientClosedRequestError', 'The client has left'))
  if (!job.over && job.deadline <= now) refuse(job, new ApiError('ServiceUnavailableError', 'The read took too long'))
  return job.over
}

/** Resolves a job, unless responses still being sent use too much memory. */
export function settle(job: Job, outcome: Exclude<ReadOutcome, { kind: 'stopped' }>, buffered: BufferedResponses): void {
  if (outcome.kind === 'failed') refuse(job, outcome.error)
  else if (outcome.kind === 'own') lend(job, outcome.bytes, buffered)
  else {
    job.over = true
    job.resolve(outcome.kind === 'nothing' ? null : outcome.answer)
  }
}

/** Unreleased responses outside of slots, bounded because slow clients could exhaust memory. */
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

export interface JobQueue {
  readonly jobs: Job[]
  /** Maximum number of waiting jobs; 0 once the queue is closed. */
  limit: number
}

export function enqueue({ jobs, limit }: JobQueue, job: Job): void {
  if (jobs.length >= limit) refuse(job, tooMany())
  else jobs.push(job)
}

/** Removes finished jobs, which would fill the queue. */
export function dropOver({ jobs }: JobQueue, now: number): void {
  let remaining = 0
  for (const job of jobs) if (!isFinished(job, now)) jobs[remaining++] = job
  jobs.length = remaining
}

export function closeQueue(queue: JobQueue): void {
  queue.limit = 0
  for (const job of queue.jobs) refuse(job, tooMany())
}

export const tooMany = (): ApiError => new ApiError('ServiceUnavailableError', 'Too many reads are waiting')

/** SQLite errors for statements beyond its limits, and V8 errors for deep nesting. */
const beyondPreparing =
  /^(SqliteError: (Expression tree is too large|too many |at most \d+ tables in a join|parser stack overflow|statement too long|LIKE or GLOB pattern too complex)|RangeError: (Maximum call stack size exceeded|Too many parameter values))/

/** Returns the error of a failed read: a 400 if the request exceeded a limit. `text` begins with the error's name; `code` is SQLite's. */
export function failure(text: string, code?: string): Error {
  if (text.startsWith('RangeError: Invalid string length')) return responseTooLarge()
  return beyondPreparing.test(text)
    ? validationError('The request is too deep or too complex', {})
    : Object.assign(new Error(text), { code })
}

/** `fresh`: the plan has not been executed before. */
type Cost = 'short' | 'light' | 'fresh' | 'heavy'

const shortBelowMs = 0.5
const heavyFromMs = 15
/** Initial average in milliseconds: a plan's first run is slower, with unprepared statements and a cold cache. */
const initialPaceMs = 1

export interface Costs {
  of(plan: PlanHandle): Cost
  /** Records the duration of a run; a stopped run would have taken longer. */
  note(plan: PlanHandle, milliseconds: number, wasStopped: boolean): void
}

export function createCosts(): Costs {
  /** Moving average of milliseconds per plan. */
  const paces = new WeakMap<PlanHandle, number>()
  return {
    of: (plan) => {
      const pace = paces.get(plan)
      if (pace === undefined) return 'fresh'
      return pace < shortBelowMs ? 'short' : pace < heavyFromMs ? 'light' : 'heavy'
    },
    note: (plan, milliseconds, wasStopped) => {
      const pace = paces.get(plan) ?? initialPaceMs
      paces.set(plan, wasStopped ? Math.max(pace, milliseconds) : pace + (milliseconds - pace) / 8)
    },
  }
}
