// The deliveries of a process, one per consumer: polls for events of other processes, and computes the oldest event still needed.

import { within } from '../../foundation/runtime/clock.js'
import { openWakeUp, type WakeUp } from '../../foundation/runtime/notifier.js'
import type { Consumer, DeliveryParts } from './consumer.js'
import { readWaiting } from './delivery-queue.js'
import { type InFlight, openInFlight } from './in-flight.js'

export interface Deliveries {
  add(consumer: Consumer): void
  remove(name: string): Promise<void>
  names(): readonly string[]
  /** Call after commits, which may have recorded events. */
  committed(): void
  /** Call when the consumers of the installation have changed. */
  changed(): void
  /** The oldest event that a consumer may still need; Infinity without consumers, 0 until it is known. */
  neededFrom(): number
  /** Calls `listener` when there may be new events; returns the function that unsubscribes it. */
  onEvents(listener: () => void): () => void
  /** Continues delivery for at most `within` milliseconds, then stops. The next start delivers the rest. */
  close(within: number): Promise<void>
}

interface DeliveriesOptions extends DeliveryParts {
  /** All consumers of the installation, including those that other processes deliver to. */
  consumers(): readonly string[]
}

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

interface Polling {
  /** Polls now, and at intervals. */
  begin(): void
  changed(): void
  neededFrom(): number
  end(): void
}

/** Polls only while there are consumers or listeners. `notify` is called when there are new events. */
function openPolling(
  options: DeliveriesOptions,
  deliveries: ReadonlyMap<string, Delivery>,
  { hasListeners, notify }: { hasListeners(): boolean; notify(): void },
): Polling {
  let timer: NodeJS.Timeout | null = null
  let neededFrom = Number.POSITIVE_INFINITY
  let lastSeen = 0
  let isPolling = false

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

/** Polls once, and wakes the deliveries with pending work. */
async function poll(
  { log, cursors, database, now }: DeliveriesOptions,
  names: readonly string[],
  deliveries: ReadonlyMap<string, Delivery>,
): Promise<{ readonly last: number; readonly neededFrom: number }> {
  const [last, known, waiting] = await Promise.all([log.last(), cursors.read(names), readWaiting(database)])
  for (const [name, delivery] of deliveries) {
    const due = waiting.get(name)?.due
    // The clock may have been set back since `due` was stored.
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

/** Drains, then stops deliveries. Each takes at most `timeMs`, because a failing database may not respond at all. */
async function closeAll(deliveries: readonly Delivery[], timeMs: number, failed: DeliveryParts['failed']): Promise<void> {
  await within(timeMs, Promise.all(deliveries.map((delivery) => delivery.drain())))
  const stopped = deliveries.map((delivery) => delivery.stop().catch((error) => failed(delivery.consumer.name, error)))
  await within(timeMs, Promise.all(stopped))
}

interface Delivery {
  readonly consumer: Consumer
  /** Call when there may be something to deliver. `rows`: a pending event is due, or another process has added a row. */
  wake(rows?: boolean): void
  /** Forgets the pause, because the stored one has ended. */
  resume(): void
  /** Delivers what is due, then stops. */
  drain(): Promise<void>
  stop(): Promise<void>
}

/** Milliseconds for which a process retains an idle lease, and before it retries a failed statement. */
const keepLease = 300
const retryStore = 1_000
/** Milliseconds between checks while attempts are running, and while new ones may not start. */
const whileRunning = 5_000
const whileThrottled = 250

/** Maximum milliseconds of a timer. */
const longestTimer = 3_600_000

interface DeliveryState {
  readonly wakeUp: WakeUp
  readonly signal: AbortSignal
  /** Reads required before the next attempts: new events, or rows changed by other processes. */
  readonly due: { events: boolean; rows: boolean }
  isDraining: boolean
  /** No event is sent before `pausedUntil`; no further events are read before `fullUntil`. Milliseconds since 1970. */
  pausedUntil: number
  fullUntil: number
}

function openDelivery(consumer: Consumer, parts: DeliveryParts): Delivery {
  const abort = new AbortController()
  const state: DeliveryState = {
    wakeUp: openWakeUp(),
    signal: abort.signal,
    due: { events: false, rows: false },
    isDraining: false,
    pausedUntil: 0,
    fullUntil: 0,
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

/** Delivers until idle, unless another process has the lease. Resolves to the time of the next attempt, or null. */
async function deliverAll(consumer: Consumer, parts: DeliveryParts, state: DeliveryState): Promise<number | null> {
  const lease = await parts.cursors.acquire(consumer.name, consumer.longestAttempt)
  if (lease === null) return null
  const { wakeUp, signal } = state
  const pauseConsumer = (until: number): void => {
    state.pausedUntil = Math.max(state.pausedUntil, until)
  }
  const { pausedUntil } = lease.cursor
  // A longer pause was stored before the clock was set back or the limit was lowered.
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

/** Resolves when nothing is due soon, or when another process has the lease. */
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

async function read(inFlight: InFlight, due: DeliveryState['due']): Promise<void> {
  if (due.rows) {
    due.rows = false
    await inFlight.load()
  }
  const hasNew = due.events
  due.events = false
  await inFlight.fill(hasNew)
}

/** Time until the next check. `isLast`: stop if nothing happens before. */
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
