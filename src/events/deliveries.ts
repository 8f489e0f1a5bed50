// All deliveries of a process: looks for what others have recorded, wakes the deliveries up, and knows which events somebody still needs.
import type { Consumer } from './consumer.js'
import { type Delivery, openDelivery } from './delivery.js'
import type { DeliveryParts } from './delivery-parts.js'
import { readWaiting } from './delivery-rows.js'

/** The deliveries of a process. */
export interface Deliveries {
  /** Begins to deliver to a consumer. */
  add(consumer: Consumer): void
  /** Stops to deliver to a consumer. */
  remove(name: string): Promise<void>
  names(): readonly string[]
  /** This process may have recorded events. */
  committed(): void
  /** The set of consumers of the installation has changed. */
  changed(): void
  /** The oldest event that a consumer of the installation may still need; Infinity if there is no consumer, 0 while it is not known. */
  neededFrom(): number
  /** Calls `listener` whenever there may be new events; returns a function that ends that. */
  onNews(listener: () => void): () => void
  /** Continues delivery for at most `within` milliseconds, then stops; the rest is delivered after the next start. */
  close(within: number): Promise<void>
}

/** What deliveries depend on. */
export interface DeliveriesOptions extends DeliveryParts {
  /** The names of all consumers of the installation, whether or not this process delivers to them. */
  consumers(): readonly string[]
}

/** Milliseconds between two looks for events of other processes. */
const interval = 2_000

export function openDeliveries(options: DeliveriesOptions): Deliveries {
  const deliveries = new Map<string, Delivery>()
  const listeners = new Set<() => void>()
  const tell = (): void => {
    for (const listener of listeners) listener()
  }
  const polling = openPolling(options, deliveries, { isListenedTo: () => listeners.size > 0, tell })
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
      await delivery?.leave()
    },
    names: () => [...deliveries.keys()],
    committed: () => {
      for (const delivery of deliveries.values()) delivery.wake()
      tell()
    },
    changed: polling.changed,
    neededFrom: polling.neededFrom,
    onNews: (listener) => {
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

/** Looks for what other processes have recorded, at intervals. */
interface Polling {
  /** Looks now and from now on. */
  begin(): void
  /** The set of consumers of the installation has changed. */
  changed(): void
  /** See `Deliveries.neededFrom`. */
  neededFrom(): number
  end(): void
}

/** Without consumers and listeners nothing is looked for. `tell`: there are new events. */
function openPolling(
  options: DeliveriesOptions,
  deliveries: ReadonlyMap<string, Delivery>,
  { isListenedTo, tell }: { isListenedTo(): boolean; tell(): void },
): Polling {
  let timer: NodeJS.Timeout | null = null
  let [neededFrom, lastSeen, isLooking] = [Number.POSITIVE_INFINITY, 0, false]

  async function look(): Promise<void> {
    const names = options.consumers()
    if (isLooking || (names.length === 0 && !isListenedTo())) return
    isLooking = true
    try {
      const found = await lookFor(options, names, deliveries)
      neededFrom = found.neededFrom
      if (found.last > lastSeen) tell()
      lastSeen = found.last
    } catch (error) {
      options.failed('events', error)
    }
    isLooking = false
  }

  function begin(): void {
    timer ??= setInterval(look, interval).unref()
    look()
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

/** Looks for what other processes have recorded, and wakes the deliveries that have something to do. */
async function lookFor(
  { log, claims, database, now }: DeliveriesOptions,
  names: readonly string[],
  deliveries: ReadonlyMap<string, Delivery>,
): Promise<{ readonly last: number; readonly neededFrom: number }> {
  const [last, cursors, waiting] = await Promise.all([log.last(), claims.cursors(names), readWaiting(database)])
  for (const [name, delivery] of deliveries) {
    const due = waiting.get(name)?.due
    // A clock that was set back would otherwise hold it up.
    const isDue = due !== undefined && (due <= now() || due > now() + delivery.consumer.longestPause)
    if (isDue) delivery.wake(true)
    else if ((cursors.get(name) ?? last) < last) delivery.wake()
  }
  const needed = names.flatMap((name) => [cursors.get(name), waiting.get(name)?.first]).filter((sequence) => sequence !== undefined)
  return { last, neededFrom: Math.min(Number.POSITIVE_INFINITY, ...needed) }
}

async function closeAll(deliveries: readonly Delivery[], within: number, failed: DeliveryParts['failed']): Promise<void> {
  let late: NodeJS.Timeout | undefined
  const timeout = new Promise((resolve) => {
    late = setTimeout(resolve, within)
  })
  await Promise.race([Promise.all(deliveries.map((delivery) => delivery.drain())), timeout])
  clearTimeout(late)
  await Promise.all(deliveries.map((delivery) => delivery.leave().catch((error) => failed(delivery.consumer.name, error))))
}
