// The pool's side of the reader threads: assigns jobs, collects outcomes, stops obsolete jobs; and the shares of light and heavy threads.
import { Worker } from 'node:worker_threads'
import { elapsed } from '../../../foundation/runtime/clock.js'
import type { PlanHandle } from '../../database.js'
import { unavailableError } from '../../errors.js'
import { responseTooLarge } from '../../response/write.js'
import { failure, type Job, type ReadOutcome, refuse } from './job.js'
import {
  type FromReader,
  type ReaderData,
  type Run,
  type Shared,
  shareSlots,
  slotBytes,
  slotStates,
  slotsPerThread,
  type ToReader,
} from './protocol.js'

const { waiting, started, revoked, answered, nothing } = slotStates

/** Slots of a thread that may be lent to responses at the same time. Further responses are copied: every slot in use takes memory. */
const maxLent = 6
/** The most jobs that are sent in one message. */
const jobsPerMessage = 16
/** Three times the initial size in gc.ts. */
const maxYoungMebibytes = 6

export interface ReaderEvents {
  /** A job has ended after `milliseconds` of work. */
  ended(job: Job, outcome: ReadOutcome, milliseconds: number): void
  /** The thread can read, or can take another job. */
  free(): void
  /** The thread has ended: the job that it worked on, and those that it had not begun. */
  lost(working: Job | null, notBegun: readonly Job[]): void
  failed(error: Error): void
}

/** A reader thread. */
export interface ReaderThread {
  /** Resolves when the thread can read. */
  readonly opened: Promise<void>
  /** The job that it works on, or will work on next, and those in its inbox. */
  jobs(): readonly Job[]
  /** The number of these jobs. */
  held(): number
  /** True if it takes another job while it has fewer than `most`. */
  isOpen(most: number): boolean
  give(job: Job): void
  /** Milliseconds of work on its current job; 0: it has none. */
  atWorkFor(now: number): number
  /** Returns the jobs of its inbox that it has not begun to the pool. */
  takeBack(): readonly Job[]
  /** Stops a job, at work or in the inbox; its outcome follows. */
  stop(job: Job): void
  forget(plan: number): void
  /** Ends the thread after the jobs that it has; resolves when it has ended. */
  close(): Promise<void>
}

/** Starts a thread. */
function startReader(data: Omit<ReaderData, 'shared'>, events: ReaderEvents): ReaderThread {
  const shared = shareSlots()
  const worker = startThread({ ...data, shared })
  const slots = createSlots(shared)
  const inbox = createInbox(shared, events)
  const sender = createJobSender(worker, inbox.sent)
  let state: 'starting' | 'ready' | 'leaving' = 'starting'

  const opened = new Promise<void>((resolve, reject) => {
    worker.on('message', (message: FromReader) => {
      if (message.kind === 'ready') {
        if (state === 'starting') state = 'ready'
        resolve()
      } else if (message.kind === 'notify') collect(shared, slots, inbox)
      else finish(message, slots, inbox)
      events.free()
    })
    worker.on('error', (error) => {
      reject(error)
      events.failed(error)
    })
  })
  opened.catch(() => undefined)
  worker.on('exit', inbox.abandon)
  const gone = new Promise<void>((resolve) => worker.on('exit', () => resolve()))

  return {
    opened,
    jobs: inbox.jobs,
    held: () => inbox.assignments.length,
    isOpen: (most) => state === 'ready' && inbox.assignments.length < most && slots.free.length > 0,
    give: (job) => {
      try {
        sender.register(job.plan)
      } catch (error) {
        // The plan is nested too deeply to be copied to another thread.
        events.ended(job, { kind: 'failed', error: failure(String(error)) }, 0)
        return
      }
      const slot = slots.free.pop()!
      inbox.add(job, slot)
      sender.run({ slot, plan: job.plan.id, values: job.values })
    },
    atWorkFor: inbox.atWorkFor,
    takeBack: inbox.takeBack,
    stop: inbox.stop,
    forget: sender.forget,
    close: () => {
      state = 'leaving'
      sender.close()
      return gone
    },
  }
}

const startThread = (workerData: ReaderData): Worker =>
  new Worker(new URL('./reader-thread.js', import.meta.url), {
    workerData,
    resourceLimits: { maxYoungGenerationSizeMb: maxYoungMebibytes },
  })

/** Takes the responses that the thread has put into slots. */
function collect({ states, lengths, notified }: Shared, slots: Slots, inbox: Inbox): void {
  Atomics.store(notified, 0, 0)
  for (const assignment of inbox.assignments.slice()) {
    const { slot } = assignment
    const state = Atomics.load(states, slot)
    if (state === waiting || state === started) return
    if (state === answered) inbox.end(assignment, slots.lend(slot, lengths[slot]!))
    else if (state === nothing) {
      slots.free.push(slot)
      inbox.end(assignment, { kind: 'nothing' })
    }
  }
}

/** Ends the job of a message. */
function finish(message: Exclude<FromReader, { kind: 'ready' | 'notify' }>, slots: Slots, inbox: Inbox): void {
  const { slot } = message
  slots.free.push(slot)
  const assignment = inbox.assignments.find((other) => other.slot === slot)
  // A job that was taken back: the thread has skipped it, so its slot is free again.
  if (assignment === undefined) return
  if (message.kind === 'skipped') inbox.end(assignment, { kind: 'stopped' })
  else if (message.kind === 'large') inbox.end(assignment, { kind: 'own', bytes: message.bytes })
  else
    inbox.end(assignment, {
      kind: 'failed',
      error: message.kind === 'tooLarge' ? responseTooLarge() : failure(message.message, message.code),
    })
}

/** The slots of a thread, as the pool uses them. */
interface Slots {
  /** Used from the end, so that few slots are ever touched. */
  readonly free: number[]
  /** Lends the response in a slot to its sender, or a copy if many slots are lent. */
  lend(slot: number, length: number): ReadOutcome
}

function createSlots({ memory }: Shared): Slots {
  const free = Array.from({ length: slotsPerThread }, (_, index) => slotsPerThread - 1 - index)
  let lent = 0
  return {
    free,
    lend: (slot, length) => {
      const bytes = Buffer.from(memory, slot * slotBytes, length)
      if (lent >= maxLent) {
        free.push(slot)
        return { kind: 'own', bytes: Buffer.from(bytes) }
      }
      lent++
      let isReleased = false
      const release = (): void => {
        if (isReleased) return
        isReleased = true
        lent--
        free.push(slot)
      }
      return { kind: 'answer', answer: { bytes, release } }
    },
  }
}

/** A job that a thread was given, and the slot for its response. */
interface Assignment {
  readonly job: Job
  readonly slot: number
}

/** The assigned jobs of a thread: the current or next one, and the queued ones. */
interface Inbox extends Pick<ReaderThread, 'jobs' | 'atWorkFor' | 'takeBack' | 'stop'> {
  readonly assignments: readonly Assignment[]
  add(job: Job, slot: number): void
  /** Notes that jobs were sent to the thread, the first of them with this slot. */
  sent(slot: number): void
  end(assignment: Assignment, outcome: ReadOutcome): void
  /** Reports the jobs that are left when the thread has ended. */
  abandon(): void
}

function createInbox({ states, times }: Shared, { ended, lost }: ReaderEvents): Inbox {
  const assignments: Assignment[] = []
  /** Known start of the first job. */
  let since = elapsed()
  const revoke = (slot: number, from: number): boolean => Atomics.compareExchange(states, slot, from, revoked) === from
  // A response that is ready only waits for the event loop.
  const isAtWork = (): boolean => assignments.length > 0 && Atomics.load(states, assignments[0]!.slot) <= started
  return {
    assignments,
    jobs: () => assignments.map(({ job }) => job),
    add: (job, slot) => {
      Atomics.store(states, slot, waiting)
      Atomics.store(times, slot, 0)
      if (assignments.length === 0) since = elapsed()
      assignments.push({ job, slot })
    },
    sent: (slot) => {
      if (assignments[0]?.slot === slot) since = elapsed()
    },
    end: (assignment, outcome) => {
      assignments.splice(assignments.indexOf(assignment), 1)
      since = elapsed()
      ended(assignment.job, outcome, Atomics.load(times, assignment.slot) / 1_000)
    },
    atWorkFor: (now) => (isAtWork() ? now - since : 0),
    takeBack: () => {
      // Their slots stay in use until the thread has skipped them.
      const back = assignments.slice(1).filter(({ slot }) => revoke(slot, waiting))
      for (const assignment of back) assignments.splice(assignments.indexOf(assignment), 1)
      return back.map(({ job }) => job)
    },
    stop: (job) => {
      const assignment = assignments.find((other) => other.job === job)
      if (assignment === undefined) return
      // In both cases the thread reports that it has skipped the job.
      if (!revoke(assignment.slot, waiting)) revoke(assignment.slot, started)
    },
    abandon: () => {
      const left = assignments.splice(0)
      const working = left.length > 0 && Atomics.load(states, left[0]!.slot) !== waiting ? left.shift()!.job : null
      lost(
        working,
        left.map(({ job }) => job),
      )
    },
  }
}

/** Sends messages to a thread: plans once, and the jobs of one turn of the event loop together. */
interface JobSender {
  /** Sends a plan that the thread does not have. @throws Error if it cannot be copied */
  register(plan: PlanHandle): void
  run(run: Run): void
  forget(plan: number): void
  close(): void
}

function createJobSender(worker: Worker, sent: (slot: number) => void): JobSender {
  const registered = new Set<number>()
  let runs: Run[] = []

  function sendRuns(): void {
    if (runs.length === 0) return
    sent(runs[0]!.slot)
    worker.postMessage({ kind: 'run', runs } satisfies ToReader)
    runs = []
  }

  /** Sends a message after the assigned jobs. */
  function post(message: ToReader): void {
    sendRuns()
    worker.postMessage(message)
  }

  return {
    register: ({ id, plan }) => {
      if (registered.has(id)) return
      worker.postMessage({ kind: 'plan', id, plan } satisfies ToReader)
      registered.add(id)
    },
    run: (run) => {
      runs.push(run)
      if (runs.length === 1) setImmediate(sendRuns)
      else if (runs.length === jobsPerMessage) sendRuns()
    },
    forget: (plan) => {
      if (registered.delete(plan)) post({ kind: 'forget', id: plan })
    },
    close: () => post({ kind: 'close' }),
  }
}

/** The threads for one kind of reads. */
export interface ThreadShare {
  readonly readers: readonly ReaderThread[]
  readonly maxThreads: number
  /** Starts a thread; resolves when it can read. */
  start(): Promise<void>
  /** Starts a thread unless there are enough, or one has just failed to open the database. */
  grow(): void
}

/** The events of a thread that the share passes on. */
export type ThreadShareEvents = Pick<ReaderEvents, 'ended' | 'free' | 'failed'>

/** Options of a share. */
export interface ThreadShareOptions {
  readonly data: Omit<ReaderData, 'shared'>
  readonly maxThreads: number
  /** Common to both shares: what prevents one thread from opening the database prevents the others as well. */
  readonly backoff: Backoff
  readonly events: ThreadShareEvents
  /** A thread has ended without having begun these jobs. */
  lost(notBegun: readonly Job[]): void
}

/** Opens a share without threads. */
export function createThreadShare({ data, maxThreads, backoff, events, lost }: ThreadShareOptions): ThreadShare {
  const readers: ReaderThread[] = []

  function start(): Promise<void> {
    let hasOpened = false
    const reader = startReader(data, {
      ...events,
      lost: (working, notBegun) => {
        readers.splice(readers.indexOf(reader), 1)
        if (!hasOpened) backoff.failed()
        // The job that ended this thread would end the next one as well.
        if (working !== null)
          refuse(working, unavailableError('The database cannot be read at the moment', new Error('A reader thread ended at its work')))
        lost(notBegun)
      },
    })
    readers.push(reader)
    return reader.opened.then(() => {
      hasOpened = true
      backoff.succeeded()
    })
  }

  return {
    readers,
    maxThreads,
    start,
    grow: () => {
      if (readers.length < maxThreads && !backoff.isPausing()) start().catch(events.failed)
    },
  }
}

/** A pause after each attempt that failed, twice as long as the one before. */
export interface Backoff {
  isPausing(): boolean
  failed(): void
  succeeded(): void
}

/** In milliseconds. */
const shortestPause = 25
const longestPause = 5_000

/** Opens a backoff without failures. */
export function createBackoff(): Backoff {
  let failures = 0
  let nextAttempt = 0
  return {
    isPausing: () => elapsed() < nextAttempt,
    failed: () => {
      nextAttempt = elapsed() + Math.min(longestPause, shortestPause * 2 ** failures++)
    },
    succeeded: () => {
      failures = 0
    },
  }
}
