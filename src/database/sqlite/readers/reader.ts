// One reader thread as the pool sees it: jobs go in, what became of them comes out, and a job that nobody wants any more is
// stopped where it stands.
import { Worker } from 'node:worker_threads'
import { elapsed } from '../../../runtime/clock.js'
import { tooLarge } from '../../answer/sink.js'
import type { PlanHandle, ReadBytes } from '../../database.js'
import { schedulingDelay } from '../scheduling-delay.js'
import type { Job } from './job.js'
import { failure } from './job.js'
import type { FromReader, ReaderData, Run, ToReader } from './protocol.js'
import { shareSlots, slotBytes, slotStates, slotsPerThread } from './protocol.js'

const { waiting, started, revoked, answered, nothing } = slotStates

/** Rooms of a thread that may hold answers on their way, further ones are copied: each room that was ever used takes memory. */
const lentRooms = 6
/** Jobs that are sent in one message. */
const jobsPerMessage = 16
/** Mebibytes that V8 gives to a thread's short-lived objects at most: three times what gc.ts lets threads begin with. */
const youngMebibytes = 6

/** What became of a job. `own`: its answer stands in memory of its own. */
export type Outcome =
  | { readonly kind: 'answer'; readonly answer: ReadBytes }
  | { readonly kind: 'own'; readonly bytes: Uint8Array }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly error: Error }

export interface ReaderEvents {
  /** A job has ended after so many milliseconds of work. */
  ended(job: Job, outcome: Outcome, milliseconds: number): void
  /** The thread can read, or has room for another job. */
  free(): void
  /** The thread is gone. The job that it was at, and those that it had not begun. */
  lost(working: Job | null, notBegun: readonly Job[]): void
  failed(error: Error): void
}

export interface Reader {
  /** Resolves when the thread can read. */
  readonly opened: Promise<void>
  /** Jobs in its hands: the one that it is at, or will be at next, and its inbox. */
  jobs(): readonly Job[]
  /** How many these are. */
  held(): number
  /** Whether it can be given a job when it has fewer than `most`. */
  isOpen(most: number): boolean
  give(job: Job): void
  /** Milliseconds for which it has been at one job; 0 where it is at none. */
  atWorkFor(now: number): number
  /** The same without the time for which the thread waited for a processor, counted from the first time that this is asked. */
  busyFor(now: number): number
  /** The jobs of its inbox that it had not begun: they are the pool's again. */
  takeBack(): readonly Job[]
  /** Ends the work on a job: not begun, or given up a moment later. */
  stop(job: Job): void
  forget(plan: number): void
  /** Gets no more jobs and ends after those that it has; resolves when it is gone. */
  close(): Promise<void>
}

/** A job in a thread's hands. `room` is where its answer will stand. */
interface Given {
  readonly job: Job
  readonly room: number
}

export function once(action: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    action()
  }
}

export function openReader(data: Omit<ReaderData, 'shared'>, events: ReaderEvents): Reader {
  const shared = shareSlots()
  const { states, lengths, times, called, memory } = shared
  const worker = new Worker(new URL('./reader-thread.js', import.meta.url), {
    workerData: { ...data, shared } satisfies ReaderData,
    resourceLimits: { maxYoungGenerationSizeMb: youngMebibytes },
  })
  const known = new Set<number>()
  /** Used from the end, so that few rooms are ever touched. */
  const freeRooms = Array.from({ length: slotsPerThread }, (_, index) => slotsPerThread - 1 - index)
  let given: Given[] = []
  /** What is sent to the thread at the end of this turn of the event loop. */
  let runs: Run[] = []
  /** Rooms whose answers are on their way. */
  let lent = 0
  /** When its first job was begun, as far as is known. */
  let since = elapsed()
  /** The job that was seen at work last, when it was first seen, and how long the thread had waited for a processor by then. */
  let seen: { readonly job: Job; readonly at: number; readonly waited: number } | null = null
  let name: string | null = null
  let [isReady, isLeaving] = [false, false]

  const opened = new Promise<void>((resolve, reject) => {
    worker.on('message', (message: FromReader) => {
      if (message.kind === 'ready') {
        isReady = true
        name = message.name
        resolve()
      } else if (message.kind === 'call') collect()
      else finish(message)
      events.free()
    })
    worker.on('error', (error) => {
      reject(error)
      events.failed(error)
    })
  })
  opened.catch(() => undefined)
  const gone = new Promise<void>((resolve) => {
    worker.on('exit', () => {
      const [first, ...rest] = given
      given = []
      const isAtWork = first !== undefined && Atomics.load(states, first.room) !== waiting
      const notBegun = (isAtWork || first === undefined ? rest : [first, ...rest]).map(({ job }) => job)
      events.lost(isAtWork ? first.job : null, notBegun)
      resolve()
    })
  })

  /** Takes what stands in the rooms. */
  function collect(): void {
    Atomics.store(called, 0, 0)
    for (const one of given.slice()) {
      const state = Atomics.load(states, one.room)
      if (state === waiting || state === started) return
      if (state === answered) end(one, inRoom(one.room, lengths[one.room]!))
      else if (state === nothing) {
        freeRooms.push(one.room)
        end(one, { kind: 'nothing' })
      }
    }
  }

  function finish(message: Exclude<FromReader, { kind: 'ready' | 'call' }>): void {
    const { room } = message
    freeRooms.push(room)
    const one = given.find((other) => other.room === room)
    // A job that was taken back: the thread has seen that, so its room may be used again.
    if (one === undefined) return
    if (message.kind === 'skipped') end(one, { kind: 'stopped' })
    else if (message.kind === 'large') end(one, { kind: 'own', bytes: message.bytes })
    else end(one, { kind: 'failed', error: message.kind === 'tooLarge' ? tooLarge() : failure(message.message, message.code) })
  }

  function end(one: Given, outcome: Outcome): void {
    given.splice(given.indexOf(one), 1)
    since = elapsed()
    events.ended(one.job, outcome, Atomics.load(times, one.room) / 1_000)
  }

  /** The answer as it stands in the shared room, or a copy where many are on their way. */
  function inRoom(room: number, length: number): Outcome {
    const bytes = Buffer.from(memory, room * slotBytes, length)
    if (lent >= lentRooms) {
      freeRooms.push(room)
      return { kind: 'own', bytes: Buffer.from(bytes) }
    }
    lent++
    const release = once(() => {
      lent--
      freeRooms.push(room)
    })
    return { kind: 'answer', answer: { bytes, release } }
  }

  function tell({ id, plan }: PlanHandle): void {
    if (known.has(id)) return
    worker.postMessage({ kind: 'plan', id, plan } satisfies ToReader)
    known.add(id)
  }

  function postRuns(): void {
    if (runs.length === 0) return
    if (given[0]?.room === runs[0]!.room) since = elapsed()
    worker.postMessage({ kind: 'run', runs } satisfies ToReader)
    runs = []
  }

  /** Messages arrive in their order: what runs is sent before what is said of it afterwards. */
  function post(message: ToReader): void {
    postRuns()
    worker.postMessage(message)
  }

  // What is done already only waits for the event loop.
  const isAtWork = (): boolean => given.length > 0 && Atomics.load(states, given[0]!.room) <= started

  return {
    opened,
    jobs: () => given.map(({ job }) => job),
    held: () => given.length,
    isOpen: (most) => isReady && !isLeaving && given.length < most && freeRooms.length > 0,
    give: (job) => {
      try {
        tell(job.plan)
      } catch (error) {
        // Nested deeper than what can be copied to another thread.
        events.ended(job, { kind: 'failed', error: failure(String(error)) }, 0)
        return
      }
      const room = freeRooms.pop()!
      Atomics.store(states, room, waiting)
      Atomics.store(times, room, 0)
      if (given.length === 0) since = elapsed()
      given.push({ job, room })
      runs.push({ room, plan: job.plan.id, values: job.values })
      if (runs.length === 1) setImmediate(postRuns)
      else if (runs.length === jobsPerMessage) postRuns()
    },
    atWorkFor: (now) => (isAtWork() ? now - since : 0),
    busyFor: (now) => {
      if (!isAtWork()) return 0
      const waited = schedulingDelay(name)
      const { job } = given[0]!
      if (seen?.job !== job) seen = { job, at: now, waited }
      return now - seen.at - (waited - seen.waited)
    },
    takeBack: () => {
      // Their rooms stay taken until the thread has skipped them.
      const back = given.slice(1).filter(({ room }) => Atomics.compareExchange(states, room, waiting, revoked) === waiting)
      given = given.filter((one) => !back.includes(one))
      return back.map(({ job }) => job)
    },
    stop: (job) => {
      const one = given.find((other) => other.job === job)
      if (one === undefined) return
      // Whichever it is: the thread says that it has skipped the job.
      if (Atomics.compareExchange(states, one.room, waiting, revoked) !== waiting)
        Atomics.compareExchange(states, one.room, started, revoked)
    },
    forget: (plan) => {
      if (known.delete(plan)) post({ kind: 'forget', id: plan })
    },
    close: () => {
      isLeaving = true
      post({ kind: 'close' })
      return gone
    },
  }
}
