// What a process has in hand while it delivers to a consumer: events that were read, attempts that are under way, and ends of attempts that
// are not stored yet. The next event of a lane is attempted only when the end of the one before is stored, so that a crash repeats an
// event, but never sends it again after a later one.
import { yieldIfBusy } from '../runtime/event-loop.js'
import type { ConsumerClaim } from './claims.js'
import type { Consumer } from './consumer.js'
import type { DeliveryParts } from './delivery-parts.js'
import { readDeliveries, type Settled, storeProgress } from './delivery-rows.js'
import { type Lanes, openLanes, type Task } from './lanes.js'

/** Events in hand for one consumer. */
export interface Hand {
  /** Reads what the database knows to wait. */
  load(): Promise<void>
  /** Reads further events while there is room for them. `isNews`: there may be some although there were none. */
  fill(isNews: boolean): Promise<void>
  /** Begins attempts. */
  start(): void
  /** Whether attempts have ended, or events were passed over, and that is not stored. */
  hasSettled(): boolean
  /** Stores how attempts have ended; false if that failed, or if another process has taken the consumer over. */
  store(): Promise<boolean>
  /** Whether another process has taken the consumer over. */
  isLost(): boolean
  isRunning(): boolean
  /** Whether attempts that are due could not begin: too many others are under way, or it is not sure that no other process makes them. */
  isHeldUp(): boolean
  /** Whether so many events wait that no others are read. */
  isFull(): boolean
  /** When the next attempt is due, in milliseconds since 1970; null if none waits. */
  nextDue(): number | null
  /** Waits for the attempts that are under way, and stores the rest. */
  end(): Promise<void>
}

/** What the owner of the hand decides and learns. */
export interface HandOptions {
  /** Aborts attempts. */
  readonly signal: AbortSignal
  /** Called when an attempt has ended. */
  settled(): void
  /** The consumer wants nothing before that moment, in milliseconds since 1970. */
  hold(until: number): void
}

/** Events in hand that the database does not know to wait. */
const window = 100
/** Milliseconds until an event is read again that could not be read. */
const retryRead = 1_000

/** How far events were read, and the cursor that is stored. */
interface ReadPosition {
  readTo: number
  cursor: number
}

/** Opens a hand. */
export function openHand(consumer: Consumer, parts: DeliveryParts, claim: ConsumerClaim, options: HandOptions): Hand {
  const { log, database, now, failed } = parts
  const lanes = openLanes()
  const attempts = openAttempts(consumer, parts, options)
  const place: ReadPosition = { readTo: claim.sequence, cursor: claim.sequence }
  let [isAtEnd, isHeldUp] = [false, false]
  let handled: ReadonlySet<number> = new Set()
  const room = (): number => {
    const { stored, unstored } = lanes.counts()
    return stored >= consumer.mostWaiting ? 0 : window - unstored
  }

  return {
    load: async () => {
      const { waiting, handled: beyond } = await readDeliveries(database, consumer.name, claim.sequence)
      handled = beyond
      const latest = now() + consumer.longestPause
      // A clock that was set back would otherwise hold them up.
      for (const task of waiting) if (!lanes.has(task.sequence)) lanes.add({ ...task, dueAt: Math.min(task.dueAt, latest) })
    },
    fill: async (isNews) => {
      if (isNews) isAtEnd = false
      for (let free = room(); !isAtEnd && free > 0; free = room()) {
        const heads = await log.heads(place.readTo, free)
        isAtEnd = heads.length < free
        if (heads.length > 0) await reportMissing(consumer, parts, place.readTo, heads[0]!.sequence)
        for (const head of heads) {
          place.readTo = head.sequence
          if (handled.has(head.sequence) || lanes.has(head.sequence) || !consumer.wants(head)) continue
          lanes.add({ sequence: head.sequence, lane: consumer.laneOf(head), attempts: 0, dueAt: 0, isStored: false })
        }
        await yieldIfBusy()
      }
    },
    start: () => {
      isHeldUp = false
      for (let due = lanes.nextDue(); due !== null && due <= now() && lanes.running() < consumer.concurrency; due = lanes.nextDue()) {
        isHeldUp = !claim.isSure() || attempts.areTooMany()
        const task = isHeldUp ? null : lanes.take(now())
        if (task === null) return
        attempts.begin(task, () => lanes.end(task, { ...task, dueAt: now() + retryRead }))
      }
    },
    hasSettled: () => attempts.ended.length > 0,
    store: () =>
      store(consumer, parts, claim, { lanes, ended: attempts.ended, place }).catch((error) => {
        failed(consumer.name, error)
        return false
      }),
    isLost: claim.isLost,
    isRunning: () => lanes.running() > 0,
    isHeldUp: () => isHeldUp,
    isFull: () => lanes.counts().stored >= consumer.mostWaiting,
    nextDue: lanes.nextDue,
    end: async () => {
      await attempts.all()
      if (!claim.isLost()) await store(consumer, parts, claim, { lanes, ended: attempts.ended, place })
    },
  }
}

/** The attempts of a hand. */
interface Attempts {
  /** Those whose ends are not stored. */
  readonly ended: Settled[]
  areTooMany(): boolean
  /** Begins an attempt. `aborted`: called if it ends without an outcome. */
  begin(task: Task, aborted: () => void): void
  /** Resolves when no attempt is under way. */
  all(): Promise<unknown>
}

function openAttempts(consumer: Consumer, { log, slots, now, failed }: DeliveryParts, { signal, settled, hold }: HandOptions): Attempts {
  const ended: Settled[] = []
  const running = new Set<Promise<void>>()

  async function attempt(task: Task): Promise<void> {
    const event = await log.read(task.sequence)
    const count = task.attempts + 1
    const outcome = event === null ? consumer.missed(task.sequence, count) : await consumer.deliver(event, count, signal)
    if (outcome.kind === 'failed' && outcome.hold > 0) hold(now() + outcome.hold)
    ended.push({ task, outcome, dueAt: outcome.kind === 'failed' ? now() + outcome.pause : 0 })
  }

  return {
    ended,
    areTooMany: () => slots.taken >= slots.most,
    begin: (task, aborted) => {
      slots.taken++
      const run = attempt(task)
        .catch((error) => {
          aborted()
          if (!signal.aborted) failed(consumer.name, error)
        })
        .finally(() => {
          slots.taken--
          running.delete(run)
          settled()
        })
      running.add(run)
    },
    all: () => Promise.all(running),
  }
}

/** Stores how attempts have ended; false if another process has taken the consumer over. @throws Error if the database cannot */
async function store(
  consumer: Consumer,
  { writer }: DeliveryParts,
  claim: ConsumerClaim,
  { lanes, ended, place }: { readonly lanes: Lanes; readonly ended: Settled[]; readonly place: ReadPosition },
): Promise<boolean> {
  const settled = [...ended]
  const failed = settled.filter(({ outcome }) => outcome.kind === 'failed').map(({ task }) => task)
  const free = consumer.mostWaiting - lanes.counts().stored - failed.filter(({ isStored }) => !isStored).length
  const parked = lanes.behind(failed).slice(0, Math.max(0, free))
  const known = new Set([...parked, ...settled.map(({ task }) => task)].map(({ sequence }) => sequence))
  const open = lanes.firstUnstored(known)
  // Everything before the first event that is neither done with nor known to wait.
  const cursor = open === null ? place.readTo : open - 1
  if (settled.length === 0 && cursor === place.cursor) return true
  const isStored = await writer.transaction(async (transaction) => {
    transaction.history.touchesOneDocument()
    if (!(await claim.move(transaction, cursor))) return false
    storeProgress(transaction, { consumer: consumer.name, cursor, settled, parked })
    return true
  })
  if (!isStored) return false
  place.cursor = cursor
  ended.splice(0, settled.length)
  for (const task of parked) lanes.stored(task)
  for (const { task, outcome, dueAt } of settled)
    lanes.end(task, outcome.kind === 'failed' ? { ...task, attempts: task.attempts + 1, dueAt, isStored: true } : null)
  return true
}

/** Reports events that were deleted before they were read. Servers leave out numbers, so a gap alone says nothing. */
async function reportMissing(
  consumer: Consumer,
  { log, outboxEvents, failed }: DeliveryParts,
  readTo: number,
  next: number,
): Promise<void> {
  if (next === readTo + 1 || next <= outboxEvents || (await log.first()) <= readTo) return
  const which = `Events ${readTo + 1}–${next - 1} were deleted from the outbox before they were delivered`
  failed(consumer.name, new Error(`${which} (limits.outboxEvents, limits.outboxBacklog)`))
}
