// All deliveries of a process: polls for events that other processes recorded, wakes the deliveries up, and knows which events are still
// needed.
import type { Consumer } from './consumer.js'
import { type Delivery, openDelivery } from './delivery.js'
import type { DeliveryParts } from './delivery-parts.js'
import { readWaiting } from './delivery-rows.js'

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
