// The pool of reader threads. Heavy plans, by measured cost, have their own queue and threads, so that light reads never wait for them.
// Reads that time out or lose their client are stopped (decision 015).

import { elapsed } from '../../../foundation/runtime/clock.js'
import type { PlanHandle, ReadDatabase } from '../../database.js'
import type { Dialect } from '../../dialect.js'
import { maxHeavyReadsInQueue } from '../../limits.js'
import type { ReadPlan } from '../../plan.js'
import type { Signing } from '../../response/signed-addresses.js'
import type { SqliteOptions } from '../connection.js'
import {
  type BufferedResponses,
  type Costs,
  closeQueue,
  createCosts,
  dropOver,
  enqueue,
  isFinished,
  type Job,
  type JobQueue,
  type ReadOutcome,
  refuse,
  settle,
  tooMany,
} from './job.js'
import { createBackoff, createThreadShare, type ReaderThread, type ThreadShare, type ThreadShareEvents } from './reader.js'

interface ReaderOptions {
  readonly sqlite: SqliteOptions
  /** Threads for light reads, which always run, and maximum threads in total; at least one is for heavy reads. */
  readonly readers: number
  readonly maxReaders: number
  readonly readQueue: number
  /** Milliseconds for a read, including its time in the queue. */
  readonly readTimeout: number
  readonly responseBytes: number
  /** Maximum bytes of unreleased responses outside of slots. */
  readonly maxBufferedResponseBytes: number
  readonly signing: Signing | null
}

/** Maximum jobs per thread. A second job in the inbox avoids waiting for the event loop; short jobs are sent several per message. */
const maxJobs = 2
const maxShortJobs = 16
/** Milliseconds between checks of running jobs. No job stays queued on a thread whose current job has run longer. */
const checkIntervalMs = 15
/** Milliseconds after which a job on a light thread moves to the heavy threads, if other jobs wait. */
const moveAfterMs = 35
/** Milliseconds without heavy reads after which a heavy thread is closed. */
const closeAfterMs = 5_000

const never = () => false

interface Queues {
  /** Light jobs of plans executed before. */
  readonly known: JobQueue
  /** Jobs of plans not executed before. */
  readonly fresh: JobQueue
  readonly heavy: JobQueue
  /** Alternates between the light queues if both have jobs. */
  isFreshNext: boolean
}

interface ReaderPool {
  readonly costs: Costs
  readonly queues: Queues
  readonly light: ThreadShare
  readonly heavy: ThreadShare
  /** Maximum threads that execute fresh plans concurrently: one is reserved for other jobs if there are several. */
  readonly maxFresh: number
  /** Jobs being stopped, to be restarted on the heavy threads. */
  readonly moving: Set<Job>
  lastHeavy: number
  state: 'opening' | 'open' | 'closing'
}

/** Opens the pool; resolves once the first thread is ready. */
export async function openReaders(options: ReaderOptions, dialect: Dialect, report: (error: Error) => void): Promise<ReadDatabase> {
  /** Plans to forget again after their remaining jobs, which send them to a thread once more. */
  const unregistered = new WeakSet<PlanHandle>()
  const buffered: BufferedResponses = { maxBytes: options.maxBufferedResponseBytes, bytes: 0 }
  const ended = (job: Job, outcome: ReadOutcome, milliseconds: number): void => {
    if (milliseconds > 0) pool.costs.note(job.plan, milliseconds, outcome.kind === 'stopped')
    if (unregistered.has(job.plan)) forget(pool, job.plan)
    const isMoving = pool.moving.delete(job)
    if (job.over) {
      if (outcome.kind === 'answer') outcome.answer.release()
    } else if (outcome.kind !== 'stopped') settle(job, outcome, buffered)
    else if (isMoving) enqueue(pool.queues.heavy, job)
    else refuse(job, tooMany())
  }
  const pool = createPool(options, { ended, free: () => assignJobs(pool), failed: report })
  await Promise.any(Array.from({ length: options.readers }, pool.light.start)).catch((error: AggregateError) => {
    throw error.errors[0]
  })
  pool.state = 'open'
  const checks = setInterval(checkRunning, checkIntervalMs, pool)
  checks.unref()
  let plans = 0
  return {
    dialect,
    register: (plan: ReadPlan): PlanHandle => ({ id: ++plans, plan }),
    unregister: (plan) => {
      unregistered.add(plan)
      forget(pool, plan)
    },
    execute: (plan, values, isGone = never) =>
      new Promise((resolve, reject) => {
        addJob(pool, { plan, values, deadline: elapsed() + options.readTimeout, isGone, resolve, reject, over: false })
        assignJobs(pool)
      }),
    close: async () => {
      clearInterval(checks)
      await closePool(pool)
    },
  }
}

function createPool(options: ReaderOptions, events: ThreadShareEvents): ReaderPool {
  const { sqlite, responseBytes, signing, readers, maxReaders, readQueue } = options
  const queues: Queues = {
    known: { jobs: [], limit: readQueue },
    fresh: { jobs: [], limit: readQueue },
    heavy: { jobs: [], limit: maxHeavyReadsInQueue },
    isFreshNext: false,
  }
  const backoff = createBackoff()
  const createShare = (maxThreads: number, queue: JobQueue): ThreadShare => {
    const lost = (notBegun: readonly Job[]): void => {
      queue.jobs.unshift(...notBegun)
      if (pool.state === 'open') pool.light.grow()
      assignJobs(pool)
    }
    return createThreadShare({ data: { sqlite, responseBytes, signing }, maxThreads, backoff, events, lost })
  }
  const pool: ReaderPool = {
    costs: createCosts(),
    queues,
    light: createShare(readers, queues.known),
    heavy: createShare(Math.max(1, maxReaders - readers), queues.heavy),
    maxFresh: Math.max(1, readers - 1),
    moving: new Set(),
    lastHeavy: elapsed(),
    state: 'opening',
  }
  return pool
}

/** Queues a job by its plan's cost. */
function addJob({ costs, queues }: ReaderPool, job: Job): void {
  const cost = costs.of(job.plan)
  if (cost === 'heavy') enqueue(queues.heavy, job)
  else enqueue(cost === 'fresh' ? queues.fresh : queues.known, job)
}

function assignJobs(pool: ReaderPool): void {
  const now = elapsed()
  while (assignLight(pool, now));
  while (assignHeavy(pool, now));
}

/** Assigns the next light job. Returns false if there is no job or no free thread. */
function assignLight(pool: ReaderPool, now: number): boolean {
  const { costs, queues } = pool
  const { known, fresh } = queues
  const queue = fresh.jobs.length > 0 && (queues.isFreshNext || known.jobs.length === 0) && mayStartFresh(pool) ? fresh : known
  const [job] = queue.jobs
  if (job === undefined) return false
  if (isFinished(job, now)) return queue.jobs.shift() !== undefined
  const cost = costs.of(job.plan)
  // Jobs of the same plan may have run since it was queued.
  if (cost === 'heavy') {
    enqueue(queues.heavy, queue.jobs.shift()!)
    return true
  }
  const reader = leastBusy(pool.light, cost === 'short' ? maxShortJobs : maxJobs, now)
  if (reader === null) return false
  queues.isFreshNext = queue === known
  reader.give(queue.jobs.shift()!)
  return true
}

const mayStartFresh = ({ light, costs, maxFresh }: ReaderPool): boolean =>
  light.readers.filter((reader) => reader.jobs().some(({ plan }) => costs.of(plan) === 'fresh')).length < maxFresh

/** The thread with the fewest jobs, below `most`. */
function leastBusy({ readers }: ThreadShare, most: number, now: number): ReaderThread | null {
  let best: ReaderThread | null = null
  for (const reader of readers) {
    if (!reader.isOpen(most) || reader.atWorkFor(now) > checkIntervalMs) continue
    if (best === null || reader.held() < best.held()) best = reader
  }
  return best
}

/** Assigns the next heavy job, or starts a thread for it. Returns false if there is no job or no free thread yet. */
function assignHeavy({ queues, heavy }: ReaderPool, now: number): boolean {
  const { jobs } = queues.heavy
  const [job] = jobs
  if (job === undefined) return false
  if (isFinished(job, now)) return jobs.shift() !== undefined
  const reader = heavy.readers.find((one) => one.isOpen(1))
  const idle = heavy.readers.filter((one) => one.held() === 0).length
  if (reader !== undefined) reader.give(jobs.shift()!)
  else if (idle < jobs.length) heavy.grow()
  return reader !== undefined
}

/** Stops finished jobs, and takes queued jobs back from threads with a long-running one. */
function checkRunning(pool: ReaderPool): void {
  const { queues, light, heavy } = pool
  const now = elapsed()
  for (const { readers } of [light, heavy])
    for (const reader of readers) for (const job of reader.jobs()) if (isFinished(job, now)) reader.stop(job)
  for (const queue of [queues.known, queues.fresh, queues.heavy]) if (queue.jobs.length > 0) dropOver(queue, now)
  for (const reader of light.readers) if (reader.atWorkFor(now) > checkIntervalMs) queues.known.jobs.unshift(...reader.takeBack())
  assignJobs(pool)
  moveLong(pool, now)
  if (light.readers.length < light.maxThreads) light.grow()
  if (queues.heavy.jobs.length > 0 || heavy.readers.some((reader) => reader.held() > 0)) pool.lastHeavy = now
  else if (now - pool.lastHeavy > closeAfterMs) {
    pool.lastHeavy = now
    heavy.readers.at(-1)?.close()
  }
}

/** Moves long-running jobs from light to heavy threads, at most one per waiting light job. */
function moveLong({ queues, light, moving }: ReaderPool, now: number): void {
  let waiting = queues.known.jobs.length + queues.fresh.jobs.length
  for (const reader of light.readers) {
    const [job] = reader.jobs()
    if (waiting === 0 || job === undefined) continue
    if (reader.atWorkFor(now) < moveAfterMs || moving.has(job) || job.over) continue
    waiting--
    moving.add(job)
    reader.stop(job)
  }
}

function forget({ light, heavy }: ReaderPool, { id }: PlanHandle): void {
  for (const reader of light.readers) reader.forget(id)
  for (const reader of heavy.readers) reader.forget(id)
}

/** Rejects waiting jobs, stops running ones, and ends the threads. */
async function closePool(pool: ReaderPool): Promise<void> {
  const { queues, light, heavy } = pool
  pool.state = 'closing'
  for (const queue of [queues.known, queues.fresh, queues.heavy]) closeQueue(queue)
  const readers = [...light.readers, ...heavy.readers]
  for (const reader of readers) for (const job of reader.jobs()) reader.stop(job)
  await Promise.all(readers.map((reader) => reader.close()))
}
