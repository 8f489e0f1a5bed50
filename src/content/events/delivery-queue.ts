// The events that a process has in memory for one consumer, queued by ordering key: among events with the same key, the next one is
// delivered only when the one before it is delivered or given up.

/** An event in the queue. */
export interface QueuedEvent {
  readonly sequence: number
  readonly orderingKey: string
  /** Attempts so far. */
  readonly attempts: number
  /** Milliseconds since 1970 before which it is not attempted. */
  readonly dueAt: number
  /** True if the database has a row that says that it waits, so that the cursor may be beyond it. */
  readonly isStored: boolean
}

/** The queue of a consumer. */
export interface DeliveryQueue {
  has(sequence: number): boolean
  /** Adds an event at its place among those with the same key. */
  add(event: QueuedEvent): void
  /** Replaces an event that is due later than `event`, unless it is being attempted. */
  reschedule(event: QueuedEvent): void
  /** Starts the attempt of the next event that may be attempted at `now`; it keeps its place until `end`. */
  take(now: number): QueuedEvent | null
  /** Ends the attempt of an event, which leaves the queue, or stays in it as `next`. */
  end(event: QueuedEvent, next: QueuedEvent | null): void
  /** Unstored events, queued after one that is pending for a retry or after one of these. */
  blockedBy(failed: readonly QueuedEvent[]): readonly QueuedEvent[]
  /** Notes that the database has a row for this event. */
  stored(event: QueuedEvent): void
  /** The numbers of stored and unstored events. */
  counts(): { readonly stored: number; readonly unstored: number }
  /** The lowest sequence that is not stored, but for these; null if there is none. */
  firstUnstored(except: ReadonlySet<number>): number | null
  /** When the next event may be attempted; null if there is none, or all are being attempted. Milliseconds since 1970. */
  nextDue(): number | null
  /** The number of events with a running attempt. */
  running(): number
}

export function openDeliveryQueue(): DeliveryQueue {
  /** By ordering key, in round-robin order; events of a key in the order of their sequences. */
  const queues = new Map<string, QueuedEvent[]>()
  /** The keys whose first event is being attempted. */
  const running = new Set<string>()
  const events = new Map<number, QueuedEvent>()

  const replace = (event: QueuedEvent): void => {
    events.set(event.sequence, event)
    const queue = queues.get(event.orderingKey)!
    queue[queue.findIndex(({ sequence }) => sequence === event.sequence)] = event
  }
  const heads = function* (): Iterable<QueuedEvent> {
    for (const [key, [head]] of queues) if (!running.has(key)) yield head!
  }

  return {
    has: (sequence) => events.has(sequence),
    add: (event) => {
      events.set(event.sequence, event)
      const queue = queues.get(event.orderingKey) ?? []
      insertInOrder(queue, event, running.has(event.orderingKey) ? 1 : 0)
      queues.set(event.orderingKey, queue)
    },
    reschedule: (event) => {
      const isAttempted = running.has(event.orderingKey) && queues.get(event.orderingKey)![0]!.sequence === event.sequence
      if (!isAttempted && event.dueAt < events.get(event.sequence)!.dueAt) replace(event)
    },
    take: (now) => {
      for (const event of heads()) {
        if (event.dueAt > now) continue
        running.add(event.orderingKey)
        return event
      }
      return null
    },
    end: (event, next) => {
      running.delete(event.orderingKey)
      if (next !== null) return replace(next)
      events.delete(event.sequence)
      const rest = queues.get(event.orderingKey)!.filter(({ sequence }) => sequence !== event.sequence)
      queues.delete(event.orderingKey)
      // At the end, so that each key gets its turn.
      if (rest.length > 0) queues.set(event.orderingKey, rest)
    },
    blockedBy: (failed) => {
      const keys = new Set(failed.map(({ orderingKey }) => orderingKey))
      return unstoredBehind(
        queues.values(),
        ({ orderingKey, attempts }) => keys.has(orderingKey) || (attempts > 0 && !running.has(orderingKey)),
      )
    },
    stored: (event) => replace({ ...event, isStored: true }),
    counts: () => countsOf(events.values()),
    firstUnstored: (except) => least(events.values(), ({ sequence, isStored }) => (isStored || except.has(sequence) ? null : sequence)),
    nextDue: () => least(heads(), ({ dueAt }) => dueAt),
    running: () => running.size,
  }
}

/** Inserts an event by its sequence, at the earliest at the place `from`. */
function insertInOrder(queue: QueuedEvent[], event: QueuedEvent, from: number): void {
  const at = queue.findIndex(({ sequence }, index) => index >= from && sequence > event.sequence)
  queue.splice(at === -1 ? queue.length : at, 0, event)
}

function countsOf(events: Iterable<QueuedEvent>): ReturnType<DeliveryQueue['counts']> {
  let [stored, unstored] = [0, 0]
  for (const { isStored } of events) {
    if (isStored) stored++
    else unstored++
  }
  return { stored, unstored }
}

/** The events that are not stored, of queues whose first event waits for another attempt. */
const unstoredBehind = (queues: Iterable<readonly QueuedEvent[]>, isWaiting: (head: QueuedEvent) => boolean): readonly QueuedEvent[] =>
  [...queues].flatMap(([head, ...rest]) => (isWaiting(head!) ? rest.filter((event) => !event.isStored) : []))

/** The least number of some events; null if none has one. */
function least(events: Iterable<QueuedEvent>, of: (event: QueuedEvent) => number | null): number | null {
  let found: number | null = null
  for (const event of events) {
    const number = of(event)
    if (number !== null && (found === null || number < found)) found = number
  }
  return found
}
