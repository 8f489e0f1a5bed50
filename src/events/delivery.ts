// Delivers recorded events to one consumer while this process has its claim: lane by lane in order, and each event until the consumer has
// taken it or is not to be asked again.
import { openWakeUp, type WakeUp } from '../runtime/wake-up.js'
import type { Consumer } from './consumer.js'
import type { DeliveryParts } from './delivery-parts.js'
import { type Hand, openHand } from './hand.js'

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

/** The state of a delivery. */
interface DeliveryState {
  readonly wakeUp: WakeUp
  readonly signal: AbortSignal
  /** What is to be read before the next attempts: new events, or rows that others have changed. */
  readonly due: { events: boolean; rows: boolean }
  isDraining: boolean
  /** Moments before which nothing is delivered, or no further events are read: too many wait. Milliseconds since 1970. */
  heldUntil: number
  fullUntil: number
}

/** Opens the delivery to a consumer. */
export function openDelivery(consumer: Consumer, parts: DeliveryParts): Delivery {
  const abort = new AbortController()
  const state: DeliveryState = {
    ...{ wakeUp: openWakeUp(), signal: abort.signal, due: { events: false, rows: false } },
    ...{ isDraining: false, heldUntil: 0, fullUntil: 0 },
  }
  const { wakeUp, due } = state
  let running: Promise<void> | null = null
  let timer: NodeJS.Timeout | undefined

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
    if (running !== null || state.isDraining || state.heldUntil > now || (!rows && state.fullUntil > now)) return
    wakeUp.forget()
    Object.assign(due, { events: false, rows: false })
    running = deliverAll(consumer, parts, state)
      .then((next) => {
        if (next !== null && !state.isDraining) wakeAt(next)
      })
      .catch((error) => parts.failed(consumer.name, error))
      .finally(() => {
        running = null
        if (due.events || due.rows) wake(due.rows)
      })
  }

  const end = async (): Promise<void> => {
    state.isDraining = true
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

/** Delivers all that can be delivered, if no other process does; resolves to when the next attempt is due, or null. */
async function deliverAll(consumer: Consumer, parts: DeliveryParts, state: DeliveryState): Promise<number | null> {
  const claim = await parts.claims.claim(consumer.name, consumer.longestAttempt)
  if (claim === null) return null
  const { wakeUp, signal } = state
  const hold = (until: number): void => {
    state.heldUntil = until
  }
  try {
    const hand = openHand(consumer, parts, claim, { signal, settled: wakeUp.now, hold })
    try {
      state.due.rows = true
      await deliver(hand, parts, state)
    } finally {
      await hand.end()
    }
    const dueAt = hand.nextDue()
    state.fullUntil = hand.isFull() ? (dueAt ?? 0) : 0
    return dueAt === null ? null : Math.max(dueAt, state.heldUntil)
  } finally {
    await claim.release()
  }
}

/** Delivers with the hand; resolves when nothing is left that is due soon, or when another process has taken the consumer over. */
async function deliver(hand: Hand, parts: DeliveryParts, state: DeliveryState): Promise<void> {
  const { wakeUp, signal, due } = state
  while (!hand.isLost()) {
    await read(hand, due)
    if (state.heldUntil <= parts.now() && !signal.aborted) hand.start()
    if (hand.hasSettled()) {
      if (!(await hand.store())) await wakeUp.wait(retryStore)
      continue
    }
    const wait = signal.aborted ? null : waitFor(hand, state, parts.now())
    if (wait === null || (!(await wakeUp.wait(wait.milliseconds)) && wait.isLast)) return
  }
}

/** Reads what is due to be read. */
async function read(hand: Hand, due: DeliveryState['due']): Promise<void> {
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

function waitFor(hand: Hand, { isDraining, heldUntil }: DeliveryState, now: number): Wait | null {
  if (hand.isHeldUp()) return { milliseconds: whileHeldUp, isLast: false }
  const dueAt = hand.nextDue()
  const soon = dueAt === null ? Number.POSITIVE_INFINITY : Math.max(1, Math.max(dueAt, heldUntil) - now)
  if (hand.isRunning()) return { milliseconds: Math.min(whileRunning, soon), isLast: false }
  if (isDraining) return null
  return soon <= keepClaimed ? { milliseconds: soon, isLast: false } : { milliseconds: keepClaimed, isLast: true }
}
