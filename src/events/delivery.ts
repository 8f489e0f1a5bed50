// Delivers recorded events to one consumer while this process has its claim: lane by lane in order, and each event until the consumer has
// taken it or is not to be asked again.
import type { MainConnection, WriteDatabase } from '../database/database.js'
import { openWakeUp } from '../runtime/wake-up.js'
import type { Claims } from './claims.js'
import type { Consumer } from './consumer.js'
import type { EventLog } from './event-log.js'
import { type Hand, openHand } from './hand.js'

/** What deliveries share. */
export interface DeliveryParts {
  readonly log: EventLog
  readonly claims: Claims
  readonly database: Pick<MainConnection, 'rows'>
  readonly writer: Pick<WriteDatabase, 'transaction'>
  readonly slots: Slots
  /** No event up to this sequence was ever deleted. */
  readonly outboxEvents: number
  /** The time of day. */
  now(): number
  /** Reports failures, and events that were deleted before delivery. */
  failed(consumer: string, error: unknown): void
}

/** How many attempts a process makes at the same time, whoever the consumers are. */
export interface Slots {
  readonly most: number
  taken: number
}

/** The delivery to one consumer. */
export interface Delivery {
  readonly consumer: Consumer
  /** There may be something to deliver. `rows`: something that waits is due, or another process has put it there. */
  wake(rows?: boolean): void
  /** Delivers what can be delivered at once, and nothing more; resolves when that is done. */
  drain(): Promise<void>
  /** Aborts attempts, and lets others deliver. */
  leave(): Promise<void>
}

/** Milliseconds for which a process keeps a consumer after delivering all events, and until a failed statement is tried again. */
const [keepClaimed, retryStore] = [300, 1_000]
/** Milliseconds until it looks again while attempts are under way, and while something holds up the next ones. */
const [whileRunning, whileHeldUp] = [5_000, 250]

/** The longest that a timer is set for, in milliseconds. */
const longestTimer = 3_600_000

/** What is to be done before the next attempts: look for new events, or for rows that others have changed. */
interface Due {
  events: boolean
  rows: boolean
}

/** Opens the delivery to a consumer. */
export function openDelivery(consumer: Consumer, parts: DeliveryParts): Delivery {
  const wakeUp = openWakeUp()
  const abort = new AbortController()
  const due: Due = { events: false, rows: false }
  let running: Promise<void> | null = null
  let timer: NodeJS.Timeout | undefined
  let isDraining = false
  /** Moments before which nothing is delivered, or no further events are read: too many wait. Milliseconds since 1970. */
  let [heldUntil, fullUntil] = [0, 0]

  /** Delivers with the hand; resolves when nothing is left that is due soon, or when another process has taken the consumer over. */
  async function deliver(hand: Hand): Promise<void> {
    while (!hand.isLost()) {
      await read(hand, due)
      if (heldUntil <= parts.now() && !abort.signal.aborted) hand.start()
      if (hand.hasSettled()) {
        if (!(await hand.store())) await wakeUp.wait(retryStore)
        continue
      }
      const wait = abort.signal.aborted ? null : waitFor(hand, { isDraining, heldUntil }, parts.now())
      if (wait === null || (!(await wakeUp.wait(wait.milliseconds)) && wait.isLast)) return
    }
  }

  async function deliverAll(): Promise<void> {
    const claim = await parts.claims.claim(consumer.name, consumer.longestAttempt)
    if (claim === null) return
    const hand = openHand(consumer, parts, claim, {
      signal: abort.signal,
      settled: wakeUp.now,
      hold: (until) => {
        heldUntil = until
      },
    })
    try {
      due.rows = true
      await deliver(hand)
    } finally {
      await hand.end()
      await claim.release()
    }
    const dueAt = hand.nextDue()
    fullUntil = hand.isFull() ? (dueAt ?? 0) : 0
    if (dueAt !== null && !isDraining) wakeAt(Math.max(dueAt, heldUntil))
  }

  function wakeAt(moment: number): void {
    clearTimeout(timer)
    timer = setTimeout(() => wake(true), Math.min(longestTimer, Math.max(0, moment - parts.now())))
    timer.unref()
  }

  function wake(rows: boolean): void {
    due.events = true
    due.rows ||= rows
    wakeUp.now()
    const now = parts.now()
    if (running !== null || isDraining || heldUntil > now || (!rows && fullUntil > now)) return
    wakeUp.forget()
    due.events = false
    due.rows = false
    running = deliverAll()
      .catch((error) => parts.failed(consumer.name, error))
      .finally(() => {
        running = null
        if (due.events || due.rows) wake(due.rows)
      })
  }

  const end = async (): Promise<void> => {
    isDraining = true
    clearTimeout(timer)
    wakeUp.now()
    while (running !== null) await running
  }
  return {
    consumer,
    wake: (rows = false) => wake(rows),
    drain: end,
    leave: () => {
      abort.abort()
      return end()
    },
  }
}

/** Reads what is due to be read. */
async function read(hand: Hand, due: Due): Promise<void> {
  if (due.rows) {
    due.rows = false
    await hand.load()
  }
  const isNews = due.events
  due.events = false
  await hand.fill(isNews)
}

/** How long to wait for something to do; null: there will be nothing. `isLast`: nothing will be due then. */
interface Wait {
  readonly milliseconds: number
  readonly isLast: boolean
}

function waitFor(
  hand: Hand,
  { isDraining, heldUntil }: { readonly isDraining: boolean; readonly heldUntil: number },
  now: number,
): Wait | null {
  if (hand.isHeldUp()) return { milliseconds: whileHeldUp, isLast: false }
  const dueAt = hand.nextDue()
  const soon = dueAt === null ? Number.POSITIVE_INFINITY : Math.max(1, Math.max(dueAt, heldUntil) - now)
  if (hand.isRunning()) return { milliseconds: Math.min(whileRunning, soon), isLast: false }
  if (isDraining) return null
  return soon <= keepClaimed ? { milliseconds: soon, isLast: false } : { milliseconds: keepClaimed, isLast: true }
}
