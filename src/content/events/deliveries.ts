// All deliveries of a process, one per consumer: polls for events recorded by other processes, wakes the deliveries up, and knows which
// events are still needed.

import { openWakeUp, type WakeUp } from '../../foundation/runtime/notifier.js'
import type { Consumer, DeliveryParts } from './consumer.js'
import { readWaiting } from './delivery-queue.js'
import { type InFlight, openInFlight } from './in-flight.js'

/** The deliveries of a process. */
export interface Deliveries {
  /** Starts to deliver to a consumer. */
  add(consumer: Consumer): void
  /** Stops delivering to a consumer. */
  remove(name: string): Promise<void>
  names(): readonly string[]
  /** This process may have recorded events. */
  committed(): void
  /** The set of consumers of the installation has changed. */
  changed(): void
  /** The oldest event that a consumer of the installation may still need; Infinity if there is no consumer, 0 while it is not known. */
  neededFrom(): number
  /** Calls `listener` whenever there may be new events; returns a function that unsubscribes it. */
  onEvents(listener: () => void): () => void
  /** Continues delivery for at most `within` milliseconds, then stops; the rest is delivered after the next start. */
  close(within: number): Promise<void>
}

export interface DeliveriesOptions extends DeliveryParts {
  /** The names of all consumers of the installation, whether or not this process delivers to them. */
  consumers(): readonly string[]
}

/** Milliseconds between two polls for events of other processes. */
const interval = 2_000

export function openDeliveries(options: DeliveriesOptions): Deliveries {
  const deliveries = new Map<string, Delivery>()
  const listeners = new Set<() => void>()
  const notify = (): void => {
    for (const listener of listeners) listener()
  }
  const polling = openPolling(options, deliveries, { hasListeners: () => listeners.size > 0, notify })
  return {
    add: (consumer) => {
      const delivery = openDelivery(consumer, options)
      deliveries.set(consumer.name, delivery)
      delivery.wake(true)
      polling.begin()
    },
    remove: async (name) => {
      const delivery = deliveries.get(name)
      deliveries.delete(name)
      await delivery?.stop()
    },
    names: () => [...deliveries.keys()],
    committed: () => {
      for (const delivery of deliveries.values()) delivery.wake()
      notify()
    },
    changed: polling.changed,
    neededFrom: polling.neededFrom,
    onEvents: (listener) => {
      listeners.add(listener)
      polling.begin()
      return () => void listeners.delete(listener)
    },
    close: async (within) => {
      polling.end()
      await closeAll([...deliveries.values()], within, options.failed)
    },
  }
}

/** Polls the database at intervals. */
interface Polling {
  /** Polls now and from now on. */
  begin(): void
  /** The set of consumers of the installation has changed. */
  changed(): void
  /** See `Deliveries.neededFrom`. */
  neededFrom(): number
  end(): void
}

/** Polls only if there are consumers or listeners. `notify`: called when there are new events. */
function openPolling(
  options: DeliveriesOptions,
  deliveries: ReadonlyMap<string, Delivery>,
  { hasListeners, notify }: { hasListeners(): boolean; notify(): void },
): Polling {
  let timer: NodeJS.Timeout | null = null
  let [neededFrom, lastSeen, isPolling] = [Number.POSITIVE_INFINITY, 0, false]

  async function pollNow(): Promise<void> {
    const names = options.consumers()
    if (isPolling || (names.length === 0 && !hasListeners())) return
    isPolling = true
    try {
      const found = await poll(options, names, deliveries)
      neededFrom = found.neededFrom
      if (found.last > lastSeen) notify()
      lastSeen = found.last
    } catch (error) {
      options.failed('events', error)
    }
    isPolling = false
  }

  function begin(): void {
    timer ??= setInterval(pollNow, interval).unref()
    pollNow()
  }

  return {
    begin,
    changed: () => {
      const isNeeded = options.consumers().length > 0
      neededFrom = isNeeded ? 0 : Number.POSITIVE_INFINITY
      if (isNeeded) begin()
    },
    neededFrom: () => neededFrom,
    end: () => {
      if (timer !== null) clearInterval(timer)
    },
  }
}

/** Polls once, and wakes the deliveries that have something to do. */
async function poll(
  { log, cursors, database, now }: DeliveriesOptions,
  names: readonly string[],
  deliveries: ReadonlyMap<string, Delivery>,
): Promise<{ readonly last: number; readonly neededFrom: number }> {
  const [last, known, waiting] = await Promise.all([log.last(), cursors.read(names), readWaiting(database)])
  for (const [name, delivery] of deliveries) {
    const due = waiting.get(name)?.due
    // A clock that was set back would otherwise delay it.
    const isDue = due !== undefined && (due <= now() || due > now() + delivery.consumer.longestPause)
    const { sequence, pausedUntil } = known.get(name) ?? { sequence: last, pausedUntil: 0 }
    // A command may have ended the pause.
    if (isDue && pausedUntil <= now()) delivery.resume()
    if (isDue) delivery.wake(true)
    else if (sequence < last) delivery.wake()
  }
  const needed = names.flatMap((name) => [known.get(name)?.sequence, waiting.get(name)?.first]).filter((sequence) => sequence !== undefined)
  return { last, neededFrom: Math.min(Number.POSITIVE_INFINITY, ...needed) }
}

/** Drains and then stops deliveries; both take at most `within` milliseconds, because a database that fails would take any time. */
async function closeAll(deliveries: readonly Delivery[], within: number, failed: DeliveryParts['failed']): Promise<void> {
  await settledWithin(within, Promise.all(deliveries.map((delivery) => delivery.drain())))
  const stopped = deliveries.map((delivery) => delivery.stop().catch((error) => failed(delivery.consumer.name, error)))
  await settledWithin(within, Promise.all(stopped))
}

/** Waits for a promise, at most that many milliseconds. */
async function settledWithin(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise((resolve) => {
    timer = setTimeout(resolve, milliseconds)
  })
  await Promise.race([promise, timeout])
  clearTimeout(timer)
}

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
function openDelivery(consumer: Consumer, parts: DeliveryParts): Delivery {
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
