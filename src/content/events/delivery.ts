// Delivers recorded events to one consumer while this process has its lease: in order per ordering key, and each event until it is delivered
// or given up.
import { openWakeUp, type WakeUp } from '../../foundation/runtime/wake-up.js'
import type { Consumer } from './consumer.js'
import type { DeliveryParts } from './delivery-parts.js'
import { type InFlight, openInFlight } from './in-flight.js'

/** The delivery to one consumer. */
export interface Delivery {
  readonly consumer: Consumer
  /** There may be something to deliver. `rows`: an event that waits is due, or another process has added its row. */
  wake(rows?: boolean): void
  /** The stored pause has ended, so the one that this process remembers has too. */
  resume(): void
  /** Delivers what can be delivered without waiting, then stops. */
  drain(): Promise<void>
  /** Aborts attempts, and releases the lease. */
  stop(): Promise<void>
}

/** Milliseconds for which a process retains the lease after delivering all events, and before it retries a failed statement. */
const [keepLease, retryStore] = [300, 1_000]
/** Milliseconds until it checks again while attempts are running, and while the next ones may not start. */
const [whileRunning, whileThrottled] = [5_000, 250]

/** The longest that a timer is set for, in milliseconds. */
const longestTimer = 3_600_000

/** The state of a delivery. */
interface DeliveryState {
  readonly wakeUp: WakeUp
  readonly signal: AbortSignal
  /** Required reads before the next attempts: new events, or rows that others have changed. */
  readonly due: { events: boolean; rows: boolean }
  isDraining: boolean
  /** Moments before which no event is sent, or no further events are read: too many wait. Milliseconds since 1970. */
  pausedUntil: number
  fullUntil: number
}

/** Opens the delivery to a consumer. */
export function openDelivery(consumer: Consumer, parts: DeliveryParts): Delivery {
  const abort = new AbortController()
  const state: DeliveryState = {
    ...{ wakeUp: openWakeUp(), signal: abort.signal, due: { events: false, rows: false } },
    ...{ isDraining: false, pausedUntil: 0, fullUntil: 0 },
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
    if (running !== null || state.isDraining || state.pausedUntil > now || (!rows && state.fullUntil > now)) return
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
    resume: () => {
      // Running attempts may not have stored their pause yet.
      if (running === null) state.pausedUntil = 0
    },
    drain: end,
    stop: () => {
      abort.abort()
      return end()
    },
  }
}

/** Delivers all that can be delivered, unless another process has the lease; resolves to when the next attempt is due, or null. */
async function deliverAll(consumer: Consumer, parts: DeliveryParts, state: DeliveryState): Promise<number | null> {
  const lease = await parts.cursors.acquire(consumer.name, consumer.longestAttempt)
  if (lease === null) return null
  const { wakeUp, signal } = state
  const pauseConsumer = (until: number): void => {
    state.pausedUntil = Math.max(state.pausedUntil, until)
  }
  const { pausedUntil } = lease.cursor
  // A pause that is longer than any was stored before the clock was set back, or the limit made smaller.
  state.pausedUntil = pausedUntil > parts.now() + consumer.longestPause ? 0 : pausedUntil
  try {
    const inFlight = openInFlight(consumer, parts, lease, { signal, ended: wakeUp.now, pauseConsumer })
    try {
      state.due.rows = true
      await deliver(inFlight, parts, state)
    } finally {
      await inFlight.end()
    }
    const dueAt = inFlight.nextDue()
    state.fullUntil = inFlight.isFull() ? (dueAt ?? 0) : 0
    return dueAt === null ? null : Math.max(dueAt, state.pausedUntil)
  } finally {
    await lease.release()
  }
}

/** Resolves when nothing is left that is due soon, or when another process has the lease. */
async function deliver(inFlight: InFlight, parts: DeliveryParts, state: DeliveryState): Promise<void> {
  const { wakeUp, signal, due } = state
  while (!inFlight.isLost()) {
    await read(inFlight, due)
    if (state.pausedUntil <= parts.now() && !signal.aborted) inFlight.start()
    if (inFlight.hasUnstored()) {
      if (await inFlight.store()) continue
      if (!signal.aborted) await wakeUp.wait(retryStore)
      if (signal.aborted) return
      continue
    }
    const wait = signal.aborted ? null : waitFor(inFlight, state, parts.now())
    if (wait === null || (!(await wakeUp.wait(wait.milliseconds)) && wait.isLast)) return
  }
}

/** Reads what must be read. */
async function read(inFlight: InFlight, due: DeliveryState['due']): Promise<void> {
  if (due.rows) {
    due.rows = false
    await inFlight.load()
  }
  const hasNew = due.events
  due.events = false
  await inFlight.fill(hasNew)
}

/** Time until the next work; null: there is none. `isLast`: nothing will be due then. */
interface Wait {
  readonly milliseconds: number
  readonly isLast: boolean
}

function waitFor(inFlight: InFlight, { isDraining, pausedUntil }: DeliveryState, now: number): Wait | null {
  if (inFlight.isThrottled()) return { milliseconds: whileThrottled, isLast: false }
  const dueAt = inFlight.nextDue()
  const soon = dueAt === null ? Number.POSITIVE_INFINITY : Math.max(1, Math.max(dueAt, pausedUntil) - now)
  if (inFlight.isRunning()) return { milliseconds: Math.min(whileRunning, soon), isLast: false }
  if (isDraining) return null
  return soon <= keepLease ? { milliseconds: soon, isLast: false } : { milliseconds: keepLease, isLast: true }
}
