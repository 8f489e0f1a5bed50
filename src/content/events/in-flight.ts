// In-flight deliveries to one consumer: events read, attempts running, and results not stored yet. The next event with the same ordering
// key is attempted only after the result of its predecessor is stored, so a crash may repeat an event, but never sends it after a later
// one.
import { serviceTransaction } from '../../database/database.js'
import { yieldIfBusy } from '../../foundation/runtime/event-loop.js'
import type { Consumer, DeliveryParts } from './consumer.js'
import type { ConsumerLease } from './cursors.js'
import type { AttemptResult, DeliveryQueue, QueuedEvent } from './delivery-queue.js'
import { openDeliveryQueue, readDeliveries, storeProgress } from './delivery-queue.js'
import type { EventHead } from './event-log.js'

export interface InFlight {
  /** Queues the events with pending rows. */
  load(): Promise<void>
  /** Reads further events while there is room. `hasNew`: there may be events after the end reached last time. */
  fill(hasNew: boolean): Promise<void>
  start(): void
  hasUnstored(): boolean
  /** Stores results; false if that failed, or if another process has the lease. */
  store(): Promise<boolean>
  isLost(): boolean
  isRunning(): boolean
  /** True if due attempts could not start: too many are running, or the lease may be about to expire. */
  isThrottled(): boolean
  /** True if too many events are pending to read further ones. */
  isFull(): boolean
  /** When the next attempt is due, in milliseconds since 1970; null if none is pending. */
  nextDue(): number | null
  /** Waits for running attempts, then stores their results, unless storing has just failed. */
  end(): Promise<void>
}

interface InFlightOptions {
  readonly signal: AbortSignal
  /** Called after each attempt. */
  ended(): void
  /** The consumer accepts no events before `until`, in milliseconds since 1970. */
  pauseConsumer(until: number): void
}

/** Maximum number of events in memory without a row. */
const window = 100
/** Milliseconds before an event is read again after a failure. */
const retryRead = 1_000

interface ReadPosition {
  readTo: number
  cursor: number
}

/** Opens the in-flight deliveries to a consumer while this process has its lease. */
export function openInFlight(consumer: Consumer, parts: DeliveryParts, lease: ConsumerLease, options: InFlightOptions): InFlight {
  const { database, now, failed } = parts
  const queue = openDeliveryQueue()
  const attempts = openAttempts(consumer, parts, lease, options)
  const { sequence } = lease.cursor
  const position: ReadPosition = { readTo: sequence, cursor: sequence }
  let isAtEnd = false
  let isThrottled = false
  let hasStoreFailed = false
  let handled: ReadonlySet<number> = new Set()
  const storeResults = () => store(consumer, parts, lease, { queue, results: attempts.results, position })

  return {
    load: async () => {
      const { waiting, handled: beyond } = await readDeliveries(database, consumer.name, sequence)
      handled = beyond
      addRows(queue, waiting, now() + consumer.longestPause)
    },
    fill: async (hasNew) => {
      if (hasNew) isAtEnd = false
      for (let free = room(queue, consumer); !isAtEnd && free > 0; free = room(queue, consumer)) {
        const heads = await readHeads(consumer, parts, position, free)
        isAtEnd = heads.length < free
        for (const head of heads) {
          if (handled.has(head.sequence) || queue.has(head.sequence) || !consumer.wants(head)) continue
          queue.add({ sequence: head.sequence, orderingKey: consumer.orderingKeyOf(head), attempts: 0, dueAt: 0, isStored: false })
        }
        await yieldIfBusy()
      }
    },
    start: () => {
      isThrottled = false
      for (let due = queue.nextDue(); due !== null && due <= now() && queue.running() < consumer.concurrency; due = queue.nextDue()) {
        isThrottled = !lease.isValid() || attempts.areTooMany()
        const event = isThrottled ? null : queue.take(now())
        if (event === null) return
        attempts.start(event, () => queue.end(event, { ...event, dueAt: now() + retryRead }))
      }
    },
    hasUnstored: () => attempts.results.length > 0,
    store: async () => {
      try {
        hasStoreFailed = false
        return await storeResults()
      } catch (error) {
        hasStoreFailed = true
        failed(consumer.name, error)
        return false
      }
    },
    isLost: lease.isLost,
    isRunning: () => queue.running() > 0,
    isThrottled: () => isThrottled,
    isFull: () => queue.counts().stored >= consumer.mostWaiting,
    nextDue: queue.nextDue,
    end: async () => {
      await attempts.all()
      if (!lease.isLost() && !hasStoreFailed) await storeResults()
    },
  }
}

function room(queue: DeliveryQueue, { mostWaiting }: Consumer): number {
  const { stored, unstored } = queue.counts()
  return stored >= mostWaiting ? 0 : window - unstored
}

/** Queues the events of rows. Rows due after `latest` were stored before the clock was set back, and are due now. */
function addRows(queue: DeliveryQueue, rows: readonly QueuedEvent[], latest: number): void {
  for (const row of rows) {
    const event = { ...row, dueAt: row.dueAt > latest ? 0 : row.dueAt }
    // A command may have rescheduled it.
    if (queue.has(event.sequence)) queue.reschedule(event)
    else queue.add(event)
  }
}

/** Reads at most `limit` events after a position, and advances it. */
async function readHeads(consumer: Consumer, parts: DeliveryParts, position: ReadPosition, limit: number): Promise<readonly EventHead[]> {
  const heads = await parts.log.heads(position.readTo, limit)
  if (heads.length > 0) await reportMissing(consumer, parts, position.readTo, heads[0]!.sequence)
  position.readTo = heads.at(-1)?.sequence ?? position.readTo
  return heads
}

interface Attempts {
  /** Results not stored yet. */
  readonly results: AttemptResult[]
  areTooMany(): boolean
  /** Starts an attempt. `aborted` is called if it ends without a result. */
  start(event: QueuedEvent, aborted: () => void): void
  all(): Promise<unknown>
}

function openAttempts(
  consumer: Consumer,
  { log, slots, now, failed }: DeliveryParts,
  lease: ConsumerLease,
  { signal, ended, pauseConsumer }: InFlightOptions,
): Attempts {
  const results: AttemptResult[] = []
  const running = new Set<Promise<void>>()

  /** False if the lease expired before the attempt. */
  async function attempt(queued: QueuedEvent): Promise<boolean> {
    const event = await log.read(queued.sequence)
    // After a suspension of this process the event might be sent after later ones.
    if (!lease.isValid()) return false
    const count = queued.attempts + 1
    const outcome = event === null ? consumer.missed(queued.sequence, count) : await consumer.deliver(event, count, signal)
    const { pause, consumerPause } = outcome.kind === 'failed' ? outcome : { pause: 0, consumerPause: 0 }
    const after = (milliseconds: number): number => (milliseconds > 0 ? now() + milliseconds : 0)
    const pausedUntil = after(consumerPause)
    if (pausedUntil > 0) pauseConsumer(pausedUntil)
    results.push({ event: queued, outcome, dueAt: after(pause), pausedUntil })
    return true
  }

  return {
    results,
    areTooMany: () => slots.taken >= slots.most,
    start: (event, aborted) => {
      slots.taken++
      const run = attempt(event)
        .then((isMade) => {
          if (!isMade) aborted()
        })
        .catch((error) => {
          aborted()
          if (!signal.aborted) failed(consumer.name, error)
        })
        .finally(() => {
          slots.taken--
          running.delete(run)
          ended()
        })
      running.add(run)
    },
    all: () => Promise.all(running),
  }
}

/** Stores results; false if another process has the lease. @throws Error if the database fails */
async function store(
  consumer: Consumer,
  { writer }: DeliveryParts,
  lease: ConsumerLease,
  { queue, results, position }: { readonly queue: DeliveryQueue; readonly results: AttemptResult[]; readonly position: ReadPosition },
): Promise<boolean> {
  const stored = [...results]
  const failed = stored.filter(({ outcome }) => outcome.kind === 'failed').map(({ event }) => event)
  const free = consumer.mostWaiting - queue.counts().stored - failed.filter(({ isStored }) => !isStored).length
  const blocked = queue.blockedBy(failed).slice(0, Math.max(0, free))
  const known = new Set([...blocked, ...stored.map(({ event }) => event)].map(({ sequence }) => sequence))
  const open = queue.firstUnstored(known)
  // The cursor is before the first event that is neither finished nor has a row.
  const cursor = open === null ? position.readTo : open - 1
  if (stored.length === 0 && cursor === position.cursor) return true
  const pausedUntil = Math.max(0, ...stored.map((result) => result.pausedUntil))
  const isStored = await serviceTransaction(writer, async (transaction) => {
    if (!(await lease.advance(transaction, cursor, pausedUntil > 0 ? pausedUntil : null))) return false
    storeProgress(transaction, { consumer: consumer.name, cursor, results: stored, blocked })
    return true
  })
  if (!isStored) return false
  position.cursor = cursor
  results.splice(0, stored.length)
  for (const event of blocked) queue.stored(event)
  for (const { event, outcome, dueAt } of stored)
    queue.end(event, outcome.kind === 'failed' ? { ...event, attempts: event.attempts + 1, dueAt, isStored: true } : null)
  return true
}

/** Reports events deleted before they were read. A gap alone is no proof, because database servers skip numbers. */
async function reportMissing(
  consumer: Consumer,
  { log, outboxEvents, failed }: DeliveryParts,
  readTo: number,
  next: number,
): Promise<void> {
  if (next === readTo + 1 || next <= outboxEvents || (await log.first()) <= readTo) return
  const which = `Events ${readTo + 1}–${next - 1} were deleted from the outbox before they were delivered`
  failed(consumer.name, new Error(`${which} (limits.outboxEvents)`))
}
