// The pool's side of the reader threads: assigns jobs, collects outcomes, stops obsolete jobs; and the light and heavy groups of threads.
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

/** Maximum slots per thread lent to responses. Further responses are copied: every slot in use takes memory. */
const maxLent = 6
const jobsPerMessage = 16
/** Three times the initial size in gc.ts. */
const maxYoungMebibytes = 6

interface ReaderEvents {
  /** A job has ended after `milliseconds` of work. */
  ended(job: Job, outcome: ReadOutcome, milliseconds: number): void
  free(): void
  /** The thread has ended, with the job in progress and those it had not started. */
  lost(working: Job | null, notBegun: readonly Job[]): void
  failed(error: Error): void
}

export interface ReaderThread {
  /** Resolves once the thread is ready. */
  readonly opened: Promise<void>
  /** The current or next job, followed by those in the inbox. */
  jobs(): readonly Job[]
  /** The number of these jobs. */
  held(): number
  /** True if it accepts another job while it has fewer than `most`. */
  isOpen(most: number): boolean
  give(job: Job): void
  /** Milliseconds spent on the current job; 0: idle. */
  atWorkFor(now: number): number
  /** Revokes and returns the unstarted jobs in the inbox. */
  takeBack(): readonly Job[]
  /** Stops a running or queued job; its outcome follows. */
  stop(job: Job): void
  forget(plan: number): void
  close(): Promise<void>
}

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
        // The plan is nested too deeply to be cloned.
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

/** Collects finished responses from the slots. */
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

/** Ends the job that a message reports on. */
function finish(message: Exclude<FromReader, { kind: 'ready' | 'notify' }>, slots: Slots, inbox: Inbox): void {
  const { slot } = message
  slots.free.push(slot)
  const assignment = inbox.assignments.find((other) => other.slot === slot)
  // A revoked job: the thread has skipped it, so its slot is free again.
  if (assignment === undefined) return
  if (message.kind === 'skipped') inbox.end(assignment, { kind: 'stopped' })
  else if (message.kind === 'large') inbox.end(assignment, { kind: 'own', bytes: message.bytes })
  else
    inbox.end(assignment, {
      kind: 'failed',
      error: message.kind === 'tooLarge' ? responseTooLarge() : failure(message.message, message.code),
    })
}

interface Slots {
  /** A stack, so that few slots are ever touched. */
  readonly free: number[]
  /** Lends the response in a slot, or a copy if many slots are lent. */
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

interface Assignment {
  readonly job: Job
  readonly slot: number
}

/** A thread's assigned jobs: the current or next one, and the queued ones. */
interface Inbox extends Pick<ReaderThread, 'jobs' | 'atWorkFor' | 'takeBack' | 'stop'> {
  readonly assignments: readonly Assignment[]
  add(job: Job, slot: number): void
  /** Called when jobs are sent to the thread, with the slot of the first. */
  sent(slot: number): void
  end(assignment: Assignment, outcome: ReadOutcome): void
  /** Reports the remaining jobs after the thread has ended. */
  abandon(): void
}

function createInbox({ states, times }: Shared, { ended, lost }: ReaderEvents): Inbox {
  const assignments: Assignment[] = []
  /** Latest known start of the first job. */
  let since = elapsed()
  const revoke = (slot: number, from: number): boolean => Atomics.compareExchange(states, slot, from, revoked) === from
  // A finished response is only waiting for the event loop.
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

/** Sends messages to a thread: each plan once, and the jobs of an event loop turn together. */
interface JobSender {
  /** Sends a plan unless the thread has it. @throws Error if it cannot be cloned */
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

  /** Sends a message after the pending jobs. */
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

/** A group of threads for one kind of reads. */
export interface ThreadShare {
  readonly readers: readonly ReaderThread[]
  readonly maxThreads: number
  /** Starts a thread; resolves once it is ready. */
  start(): Promise<void>
  /** Starts a thread unless there are enough, or one has just failed to open the database. */
  grow(): void
}

export type ThreadShareEvents = Pick<ReaderEvents, 'ended' | 'free' | 'failed'>

interface ThreadShareOptions {
  readonly data: Omit<ReaderData, 'shared'>
  readonly maxThreads: number
  /** Shared by both groups: a failure to open the database affects both. */
  readonly backoff: Backoff
  readonly events: ThreadShareEvents
  /** A thread has ended without starting these jobs. */
  lost(notBegun: readonly Job[]): void
}

export function createThreadShare({ data, maxThreads, backoff, events, lost }: ThreadShareOptions): ThreadShare {
  const readers: ReaderThread[] = []

  function start(): Promise<void> {
    let hasOpened = false
    const reader = startReader(data, {
      ...events,
      lost: (working, notBegun) => {
        readers.splice(readers.indexOf(reader), 1)
        if (!hasOpened) backoff.failed()
        // The job that killed this thread would kill the next one, too.
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

interface Backoff {
  isPausing(): boolean
  failed(): void
  succeeded(): void
}

const minPauseMs = 25
const maxPauseMs = 5_000

export function createBackoff(): Backoff {
  let failures = 0
  let nextAttempt = 0
  return {
    isPausing: () => elapsed() < nextAttempt,
    failed: () => {
      nextAttempt = elapsed() + Math.min(maxPauseMs, minPauseMs * 2 ** failures++)
    },
    succeeded: () => {
      failures = 0
    },
  }
}
