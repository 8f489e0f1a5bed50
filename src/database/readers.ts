// The pool of reader threads: hands plans to free threads, gives a busy one's waiting work to others, and adds threads
// while heavy reads keep some of them occupied, so that a light read never waits behind a heavy one.
import { Worker } from 'node:worker_threads'
import { ApiError, validationError } from '../errors.js'
import type { KnownPlan, ReadAnswer, ReadDatabase } from './database.js'
import type { Dialect } from './dialect.js'
import type { ReadPlan } from './plan.js'
import { waitedForProcessor } from './processor.js'
import {
  type FromReader,
  type ReaderData,
  type Run,
  roomBytes,
  roomStates,
  roomsPerThread,
  type Shared,
  shareRooms,
  type ToReader,
} from './rooms.js'
import type { Signing } from './signed-addresses.js'
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
  /** Bytes of all answers in memory of their own that were not released yet. */
  readonly unsentBytes: number
  /** How addresses of files are signed; null: not at all. */
  readonly signing: Signing | null
}

/**
 * A thread works on one job and has one more in its inbox, so that it never waits for the event loop; where jobs are short,
 * more of them, so that one message brings several.
 */
const [depth, depthOfShort] = [2, 16]
/** Rooms of a thread that may hold answers on their way, further ones are copied: each room that was ever used takes memory. */
const lentRooms = 6
/** Milliseconds below which jobs count as short. */
const short = 0.5
/** A thread that is at one job for longer counts as occupied by a heavy read: nothing waits behind it; milliseconds. */
const heavyAfter = 15
/** A thread that is occupied for longer is replaced as long as that lasts; milliseconds. */
const replacedAfter = 100
/** Threads above `readers` go when none was occupied for this long; milliseconds. */
const spareAfter = 5_000
/** Mebibytes that V8 gives to a thread's short-lived objects at most: three times what memory.ts lets threads begin with. */
const nursery = 6

const { waiting, started, revoked, answered, nothing } = roomStates

interface Job {
  readonly plan: KnownPlan
  readonly values: readonly unknown[]
  readonly deadline: number
  readonly resolve: (answer: ReadAnswer) => void
  readonly reject: (error: Error) => void
  over: boolean
}

/** A job in a thread's hands: at work (the first) or in its inbox. `room` is where its answer will stand. */
interface Given {
  readonly job: Job
  readonly room: number
}

interface Thread {
  readonly worker: Worker
  readonly known: Set<number>
  readonly shared: Shared
  /** Used from the end, so that few rooms are ever touched. */
  readonly freeRooms: number[]
  /** Rooms whose answers are on their way. */
  lent: number
  given: Given[]
  /** What is given to the thread at the end of this turn of the event loop. */
  runs: Run[]
  /** When its first job was started, as far as is known. */
  since: number
  /** The heavy read that was seen last, when it was seen first, and how long the thread had waited for a processor by then. */
  heavy: { readonly job: Job; readonly at: number; readonly waited: number } | null
  name: string | null
  ready: boolean
  leaving: boolean
}

function once(action: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    action()
  }
}

const tooLarge = (): ApiError => validationError('The answer is too large, ask for fewer entries or fewer populated levels')

/** What a database says of statements that are beyond what it prepares, and the engine of what is nested too deeply. */
const beyondPreparing =
  /^(SqliteError: (Expression tree is too large|too many |at most \d+ tables in a join|parser stack overflow|statement too long|LIKE or GLOB pattern too complex)|RangeError: (Maximum call stack size exceeded|Too many parameter values))/

/** The failure of a read as an error: a refusal where the request asked for too much at once. `text` begins with the error's name. */
function failure(text: string): Error {
  if (text.startsWith('RangeError: Invalid string length')) return tooLarge()
  return beyondPreparing.test(text) ? validationError('The request is too deep or too complex', {}) : new Error(text)
}

/** Opens the pool; resolves when the first thread can read. */
export async function openReaders(options: ReaderOptions, dialect: Dialect, report: (error: Error) => void): Promise<ReadDatabase> {
  const threads: Thread[] = []
  const queue: Job[] = []
  /** The milliseconds that plans took of late. */
  const paces = new WeakMap<KnownPlan, number>()
  let plans = 0
  let unsent = 0
  let closing = false
  /** When there were last no more threads than needed. */
  let enoughSince = Date.now()

  function addThread(): Promise<void> {
    const shared = shareRooms()
    const worker = new Worker(new URL('./reader-thread.js', import.meta.url), {
      workerData: {
        sqlite: options.sqlite,
        answerBytes: options.answerBytes,
        signing: options.signing,
        shared,
      } satisfies ReaderData,
      resourceLimits: { maxYoungGenerationSizeMb: nursery },
    })
    const freeRooms = Array.from({ length: roomsPerThread }, (_, index) => roomsPerThread - 1 - index)
    const thread: Thread = {
      worker,
      known: new Set(),
      shared,
      freeRooms,
      lent: 0,
      given: [],
      runs: [],
      since: performance.now(),
      heavy: null,
      name: null,
      ready: false,
      leaving: false,
    }
    threads.push(thread)
    return new Promise((resolve, reject) => {
      worker.on('message', (message: FromReader) => {
        if (message.kind === 'ready') {
          thread.ready = true
          thread.name = message.name
          resolve()
        } else if (message.kind === 'call') collect(thread)
        else finish(thread, message)
        pump()
      })
      worker.on('error', (error) => {
        reject(error)
        report(error)
      })
      worker.on('exit', () => lose(thread))
    })
  }

  /** Takes what stands in the rooms of a thread that has called. */
  function collect(thread: Thread): void {
    const { states, lengths, called } = thread.shared
    Atomics.store(called, 0, 0)
    for (const given of thread.given.slice()) {
      const state = Atomics.load(states, given.room)
      if (state === waiting || state === started) return
      if (state !== answered && state !== nothing) continue
      end(thread, given)
      const { job, room } = given
      const { over } = job
      job.over = true
      if (state === answered && !over) answer(thread, job, room, lengths[room]!)
      else {
        thread.freeRooms.push(room)
        if (!over) job.resolve(null)
      }
    }
  }

  function finish(thread: Thread, message: Exclude<FromReader, { kind: 'ready' | 'call' }>): void {
    const { room } = message
    thread.freeRooms.push(room)
    const given = thread.given.find((one) => one.room === room)
    // A job that was taken back: the thread has seen that, so its room may be used again.
    if (given === undefined || message.kind === 'skipped') return
    end(thread, given)
    const { job } = given
    if (job.over) return
    job.over = true
    if (message.kind === 'large') lend(job, message.bytes)
    else job.reject(message.kind === 'tooLarge' ? tooLarge() : failure(message.message))
  }

  function end(thread: Thread, given: Given): void {
    thread.given.splice(thread.given.indexOf(given), 1)
    thread.since = performance.now()
    const { plan } = given.job
    const pace = paces.get(plan) ?? 2 * short
    paces.set(plan, pace + (Atomics.load(thread.shared.times, given.room) / 1_000 - pace) / 8)
  }

  /** A large answer, unless clients leave too many of them lying: their memory is what a server runs out of first. */
  function lend(job: Job, bytes: Uint8Array): void {
    if (unsent > 0 && unsent + bytes.length > options.unsentBytes) {
      job.reject(new ApiError('ServiceUnavailableError', 'Too many answers are being sent'))
      return
    }
    unsent += bytes.length
    job.resolve({ bytes, release: once(() => (unsent -= bytes.length)) })
  }

  /** The bytes as they stand in the shared room, or a copy where many are on their way. */
  function answer(thread: Thread, job: Job, room: number, length: number): void {
    const bytes = Buffer.from(thread.shared.memory, room * roomBytes, length)
    if (thread.lent >= lentRooms) {
      lend(job, Buffer.from(bytes))
      thread.freeRooms.push(room)
      return
    }
    thread.lent++
    const release = once(() => {
      thread.lent--
      thread.freeRooms.push(room)
    })
    job.resolve({ bytes, release })
  }

  /** A thread is gone: what it had not answered goes to the others. */
  function lose(thread: Thread): void {
    threads.splice(threads.indexOf(thread), 1)
    for (const { job } of thread.given.toReversed()) if (!job.over) queue.unshift(job)
    thread.given = []
    if (!closing && threads.filter((other) => !other.leaving).length < options.readers) addThread().catch(report)
    pump()
  }

  function pump(): void {
    while (queue.length > 0) {
      const thread = freest(depthOf(queue[0]!.plan))
      if (thread === null) return
      give(thread, queue.shift()!)
    }
  }

  function freest(most: number): Thread | null {
    let best: Thread | null = null
    for (const thread of threads) {
      if (!thread.ready || thread.leaving || thread.given.length >= most || thread.freeRooms.length === 0) continue
      if (thread.given.length > 0 && isHeavy(thread)) continue
      if (best === null || thread.given.length < best.given.length) best = thread
    }
    return best
  }

  const depthOf = (plan: KnownPlan): number => ((paces.get(plan) ?? short) < short ? depthOfShort : depth)

  /** At work for long. What is done already only waits for the event loop. */
  const isHeavy = ({ given, since, shared }: Thread): boolean =>
    given.length > 0 && performance.now() - since > heavyAfter && Atomics.load(shared.states, given[0]!.room) <= started

  function give(thread: Thread, job: Job): void {
    if (job.over) return
    const { id, plan } = job.plan
    if (!thread.known.has(id)) {
      try {
        post(thread, { kind: 'plan', id, plan })
      } catch (error) {
        // Nested deeper than what can be copied to another thread.
        job.over = true
        job.reject(failure(String(error)))
        return
      }
      thread.known.add(id)
    }
    const room = thread.freeRooms.pop()!
    Atomics.store(thread.shared.states, room, waiting)
    if (thread.given.length === 0) thread.since = performance.now()
    thread.given.push({ job, room })
    thread.runs.push({ room, plan: id, values: job.values })
    if (thread.runs.length === 1) setImmediate(postRuns, thread)
    else if (thread.runs.length === depthOfShort) postRuns(thread)
  }

  function postRuns(thread: Thread): void {
    if (thread.runs.length === 0) return
    if (thread.given[0]?.room === thread.runs[0]!.room) thread.since = performance.now()
    thread.worker.postMessage({ kind: 'run', runs: thread.runs } satisfies ToReader)
    thread.runs = []
  }

  /** Messages arrive in their order: what runs is sent before what is said of it afterwards. */
  function post(thread: Thread, message: ToReader): void {
    if (message.kind !== 'plan') postRuns(thread)
    thread.worker.postMessage(message)
  }

  /** Takes back what waits behind a heavy read, adds threads in place of occupied ones, ends what took too long. */
  function watch(): void {
    const now = Date.now()
    for (const thread of threads) if (isHeavy(thread)) takeBack(thread)
    for (const job of [...queue, ...threads.flatMap((thread) => thread.given.map((one) => one.job))]) {
      if (job.over || job.deadline > now) continue
      job.over = true
      job.reject(new ApiError('ServiceUnavailableError', 'The read took too long'))
    }
    const able = threads.filter((thread) => !thread.leaving && occupiedFor(thread, now) <= replacedAfter)
    if (able.length < options.readers && threads.length < options.maxReaders) addThread().catch(report)
    if (able.length <= options.readers) enoughSince = now
    else if (now - enoughSince > spareAfter) retire(able.at(-1)!)
    pump()
  }

  /** Milliseconds that a thread worked on, or waited for the disk in, its heavy read. Waiting for a processor does not count. */
  function occupiedFor(thread: Thread, now: number): number {
    if (!isHeavy(thread)) return 0
    const waited = waitedForProcessor(thread.name)
    const { job } = thread.given[0]!
    if (thread.heavy?.job !== job) thread.heavy = { job, at: now, waited }
    return now - thread.heavy.at - (waited - thread.heavy.waited)
  }

  /** The thread gets no more jobs and ends after those that it has. */
  function retire(thread: Thread): void {
    thread.leaving = true
    post(thread, { kind: 'close' })
  }

  /** What is still in the thread's inbox goes back to the queue. Its room stays taken until the thread has skipped it. */
  function takeBack(thread: Thread): void {
    for (const given of thread.given.slice(1).toReversed()) {
      if (Atomics.compareExchange(thread.shared.states, given.room, waiting, revoked) !== waiting) continue
      thread.given = thread.given.filter((one) => one !== given)
      queue.unshift(given.job)
    }
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
        queue.push({ plan, values, deadline: Date.now() + options.readTimeout, resolve, reject, over: false })
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
