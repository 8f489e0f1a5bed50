// The pool of reader threads: hands plans to free threads, gives a busy one's waiting work to others, and adds threads
// while heavy reads keep some of them occupied, so that a light read never waits behind a heavy one.
import { Worker } from 'node:worker_threads'
import { ApiError, validationError } from '../errors.js'
import type { KnownPlan, ReadAnswer, ReadDatabase } from './database.js'
import type { Dialect } from './dialect.js'
import type { ReadPlan } from './plan.js'
import { type FromReader, jobStates, type ReaderData, roomBytes, type ToReader } from './rooms.js'
import type { SqliteOptions } from './sqlite.js'

export interface ReaderOptions {
  readonly sqlite: SqliteOptions
  /** Threads that are always there, and the most there may be while heavy reads occupy some. */
  readonly readers: number
  readonly maxReaders: number
  /** Reads that may wait for a thread. */
  readonly readQueue: number
  /** Milliseconds that a read may take, waiting included. */
  readonly readTimeout: number
  readonly answerBytes: number
}

/** A thread works on one job and has one more in its inbox, so that it never waits for the event loop. */
const depth = 2
/** A thread that is at one job for longer counts as occupied by a heavy read: nothing waits behind it; milliseconds. */
const heavyAfter = 15
/** A thread that is occupied for longer is replaced as long as that lasts; milliseconds. */
const replacedAfter = 100
const slots = 4096
/** Threads above `readers` go when they had nothing to do for this long; milliseconds. */
const idleAfter = 10_000

const { waiting, revoked } = jobStates

interface Job {
  readonly plan: KnownPlan
  readonly values: readonly unknown[]
  readonly deadline: number
  readonly resolve: (answer: ReadAnswer) => void
  readonly reject: (error: Error) => void
  slot: number
  room: number
  over: boolean
}

interface Thread {
  readonly worker: Worker
  readonly known: Set<number>
  readonly rooms: SharedArrayBuffer
  readonly freeRooms: number[]
  /** The job at work first, then those in the inbox. */
  jobs: Job[]
  since: number
  ready: boolean
  leaving: boolean
}

/** Opens the pool; resolves when the first thread can read. */
export async function openReaders(options: ReaderOptions, dialect: Dialect, report: (error: Error) => void): Promise<ReadDatabase> {
  const states = new Int32Array(new SharedArrayBuffer(slots * Int32Array.BYTES_PER_ELEMENT))
  const freeSlots = Array.from({ length: slots }, (_, index) => slots - 1 - index)
  const bySlot = new Map<number, { job: Job; thread: Thread }>()
  const threads: Thread[] = []
  const queue: Job[] = []
  let plans = 0
  let closing = false

  function addThread(): Promise<void> {
    const rooms = new SharedArrayBuffer(depth * roomBytes)
    const data: ReaderData = { sqlite: options.sqlite, answerBytes: options.answerBytes, states, rooms }
    const worker = new Worker(new URL('./reader-thread.js', import.meta.url), {
      workerData: data,
      resourceLimits: { maxYoungGenerationSizeMb: 12 },
    })
    const thread: Thread = {
      worker,
      known: new Set(),
      rooms,
      freeRooms: Array.from({ length: depth }, (_, index) => index),
      jobs: [],
      since: Date.now(),
      ready: false,
      leaving: false,
    }
    threads.push(thread)
    return new Promise((resolve, reject) => {
      worker.on('message', (message: FromReader) => {
        if (message.kind === 'ready') {
          thread.ready = true
          resolve()
        } else finish(thread, message)
        pump()
      })
      worker.on('error', (error) => {
        reject(error)
        report(error)
      })
      worker.on('exit', () => lose(thread))
    })
  }

  function finish(thread: Thread, message: Exclude<FromReader, { kind: 'ready' }>): void {
    const entry = bySlot.get(message.slot)
    if (entry === undefined) return
    release(entry)
    thread.jobs = thread.jobs.filter((job) => job !== entry.job)
    thread.since = Date.now()
    const { job } = entry
    if (job.over) return
    job.over = true
    if (message.kind === 'nothing') job.resolve(null)
    else if (message.kind === 'answer')
      job.resolve(message.own ?? Buffer.from(Buffer.from(thread.rooms, job.room * roomBytes, message.length)))
    else if (message.kind === 'tooLarge')
      job.reject(validationError('The answer is too large, ask for fewer entries or fewer populated levels'))
    else job.reject(new Error(message.message))
  }

  /** The job's slot and room may be used again. Its answer has been copied, or never began. */
  function release({ job, thread }: { readonly job: Job; readonly thread: Thread }): void {
    bySlot.delete(job.slot)
    freeSlots.push(job.slot)
    thread.freeRooms.push(job.room)
  }

  /** A thread is gone: what it had not answered goes to the others, or fails when the pool is closing. */
  function lose(thread: Thread): void {
    threads.splice(threads.indexOf(thread), 1)
    for (const job of thread.jobs.toReversed()) {
      release({ job, thread })
      if (!job.over) queue.unshift(job)
    }
    thread.jobs = []
    if (!closing && threads.filter((other) => !other.leaving).length < options.readers) addThread().catch(report)
    pump()
  }

  function pump(): void {
    while (queue.length > 0) {
      const thread = freest()
      if (thread === null) return
      give(thread, queue.shift()!)
    }
  }

  function freest(): Thread | null {
    let best: Thread | null = null
    for (const thread of threads) {
      if (!thread.ready || thread.leaving || thread.jobs.length >= depth) continue
      if (thread.jobs.length > 0 && isHeavy(thread)) continue
      if (best === null || thread.jobs.length < best.jobs.length) best = thread
    }
    return best
  }

  const isHeavy = (thread: Thread, after = heavyAfter): boolean => thread.jobs.length > 0 && Date.now() - thread.since > after

  function give(thread: Thread, job: Job): void {
    if (job.over) return
    const { id, plan } = job.plan
    if (!thread.known.has(id)) {
      thread.known.add(id)
      post(thread, { kind: 'plan', id, plan })
    }
    job.slot = freeSlots.pop()!
    job.room = thread.freeRooms.pop()!
    Atomics.store(states, job.slot, waiting)
    bySlot.set(job.slot, { job, thread })
    if (thread.jobs.length === 0) thread.since = Date.now()
    thread.jobs.push(job)
    post(thread, { kind: 'run', slot: job.slot, plan: id, values: job.values, room: job.room })
  }

  const post = (thread: Thread, message: ToReader): void => thread.worker.postMessage(message)

  /** Takes back what waits behind a heavy read, adds threads in place of occupied ones, ends what took too long. */
  function watch(): void {
    const now = Date.now()
    for (const thread of threads) {
      if (!isHeavy(thread)) continue
      for (const job of thread.jobs.slice(1)) {
        if (Atomics.compareExchange(states, job.slot, waiting, revoked) !== waiting) continue
        release({ job, thread })
        thread.jobs.splice(thread.jobs.indexOf(job), 1)
        queue.unshift(job)
      }
    }
    for (const job of [...queue, ...threads.flatMap((thread) => thread.jobs)]) {
      if (job.over || job.deadline > now) continue
      job.over = true
      job.reject(new ApiError('ServiceUnavailableError', 'The read took too long'))
    }
    const able = threads.filter((thread) => !thread.leaving && !isHeavy(thread, replacedAfter))
    if (able.length < options.readers && threads.length < options.maxReaders) addThread().catch(report)
    const spare = able.find(
      (thread) => able.length > options.readers && thread.ready && thread.jobs.length === 0 && now - thread.since > idleAfter,
    )
    if (spare !== undefined) {
      spare.leaving = true
      post(spare, { kind: 'close' })
    }
    pump()
  }

  await Promise.any(Array.from({ length: options.readers }, addThread)).catch((error: AggregateError) => {
    throw error.errors[0]
  })
  const timer = setInterval(watch, heavyAfter)
  timer.unref()

  return {
    dialect,
    know: (plan: ReadPlan) => ({ id: ++plans, plan }),
    forget: ({ id }) => {
      for (const thread of threads) if (thread.known.delete(id)) post(thread, { kind: 'forget', id })
    },
    execute: (plan, values) =>
      new Promise((resolve, reject) => {
        if (closing || queue.length >= options.readQueue) {
          reject(new ApiError('ServiceUnavailableError', 'Too many reads are waiting'))
          return
        }
        queue.push({ plan, values, deadline: Date.now() + options.readTimeout, resolve, reject, slot: -1, room: -1, over: false })
        pump()
      }),
    close: async () => {
      closing = true
      clearInterval(timer)
      await Promise.all(
        threads.map(
          (thread) =>
            new Promise((gone) => {
              thread.worker.once('exit', gone)
              post(thread, { kind: 'close' })
            }),
        ),
      )
    },
  }
}
