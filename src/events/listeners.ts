// Delivers recorded events to the project's listeners: each in order, one event at a time, from its cursor in the database. A listener that
// fails gets the event again and does not delay the others.
import type { ContentEvent, EventListener } from '../public/events.js'

/** A listener with its name. */
export interface NamedListener {
  readonly name: string
  readonly listener: EventListener
}

/** The dependencies of delivery. */
export interface ListenerOptions {
  /** Reads up to `limit` events with a higher sequence than `after`, oldest first. */
  read(after: number, limit: number): Promise<readonly ContentEvent[]>
  /** The sequence of the last event. */
  last(): Promise<number>
  readonly cursors: Cursors
  /** The cursor of each listener at the start of the process. */
  readonly lastDelivered: ReadonlyMap<string, number>
  /** Attempts to deliver an event to a listener that fails. */
  readonly attempts: number
  /** Runs a listener with its time limit. */
  inTime(name: string, run: () => unknown): Promise<void>
  /** Reports failures of listeners, and events that were pruned before delivery. */
  failed(what: string, error: unknown): void
}

/** The cursors that delivery uses. */
export interface Cursors {
  claim(name: string): Promise<number | null>
  advance(name: string, sequence: number): Promise<boolean>
  release(name: string, sequence: number): Promise<void>
}

/** Delivery to all listeners. */
export interface Listeners {
  /** Checks for new events. */
  poll(): void
  /** Continues delivery for at most `within` milliseconds, then stops; the rest is delivered after the next start. */
  close(within: number): Promise<void>
}

/** Events that are read, and after which the cursor is stored, in one batch. */
const batchSize = 50
/** In milliseconds: the first and the longest delay before a retry, and the interval of checks for events of other processes. */
const [firstWait, longestWait, interval] = [1_000, 60_000, 2_000]
/** Milliseconds for which a process keeps a listener after delivering all events. */
const keepClaimed = 300

/** Starts delivery to the listeners. */
export function openListeners(listeners: readonly NamedListener[], options: ListenerOptions): Listeners {
  const { failed } = options
  const stopping = new AbortController()
  const deliveries = listeners.map((listener) => openDelivery(listener, options, stopping.signal))
  const poll = () => {
    for (const { wake } of deliveries) wake()
  }
  const checkForEvents = () => {
    options.last().then(
      (last) => {
        for (const delivery of deliveries) if (delivery.lastDelivered() < last) delivery.wake()
      },
      (error) => failed('listeners', error),
    )
  }
  const timer = setInterval(checkForEvents, interval)
  timer.unref()
  checkForEvents()
  return {
    poll,
    close: async (within) => {
      clearInterval(timer)
      stopping.abort()
      let late: NodeJS.Timeout | undefined
      const timeout = new Promise((resolve) => {
        late = setTimeout(resolve, within)
      })
      await Promise.race([Promise.all(deliveries.map((delivery) => delivery.quiet())), timeout])
      clearTimeout(late)
      await Promise.all(deliveries.map((delivery) => delivery.leave().catch((error) => failed('listeners', error))))
    },
  }
}

interface Delivery {
  /** The sequence of the last delivered event. */
  lastDelivered(): number
  wake(): void
  /** Resolves when no event is left or delivery has stopped. */
  quiet(): Promise<void>
  /** Stops delivery and stores the cursor. */
  leave(): Promise<void>
}

function openDelivery(listener: NamedListener, options: ListenerOptions, stopping: AbortSignal): Delivery {
  const { name } = listener
  const { read, failed } = options
  const cursor = openCursor(name, options)
  let running: Promise<void> | null = null
  let hasNews = false
  let isOver = false

  /** Delivers a batch. `over`: delivery has stopped, or another process has taken the listener over. */
  async function deliverBatch(): Promise<'some' | 'nothing' | 'over'> {
    const events = await read(cursor.at(), batchSize)
    const [first] = events
    if (first === undefined) return 'nothing'
    if (first.sequence > cursor.at() + 1)
      failed(name, new Error(`Events ${cursor.at() + 1}–${first.sequence - 1} were pruned before they were delivered`))
    for (const event of events) {
      if (isOver || !(await deliver(event, listener, options, stopping)) || isOver) return 'over'
      cursor.move(event.sequence)
    }
    return (await cursor.store()) ? 'some' : 'over'
  }

  async function deliverAll(): Promise<void> {
    hasNews = false
    if (!(await cursor.claim())) return
    let last: Awaited<ReturnType<typeof deliverBatch>>
    do {
      hasNews = false
      do last = await deliverBatch()
      while (last === 'some')
    } while (last !== 'over' && !isOver && (hasNews || (await pause(keepClaimed, stopping))) && hasNews)
    await cursor.release()
  }

  function wake(): void {
    hasNews = true
    if (isOver) return
    running ??= deliverAll()
      .catch((error) => failed(name, error))
      .finally(() => {
        running = null
        if (hasNews && !stopping.aborted) wake()
      })
  }

  return {
    lastDelivered: cursor.at,
    wake,
    quiet: async () => {
      while (running !== null) await running
    },
    leave: async () => {
      isOver = true
      await cursor.release()
    },
  }
}

/** The cursor of one listener: in the database, and further ahead in memory during a batch. */
interface Cursor {
  /** The sequence of the last delivered event. */
  at(): number
  /** Claims the listener for this process and reads its cursor; false while another process delivers to it. */
  claim(): Promise<boolean>
  move(sequence: number): void
  /** Stores the cursor; false if another process has taken the listener over. */
  store(): Promise<boolean>
  /** Stores the cursor and releases the listener, if it was claimed. */
  release(): Promise<void>
}

function openCursor(name: string, { cursors, lastDelivered }: ListenerOptions): Cursor {
  let sequence = lastDelivered.get(name) ?? 0
  let isClaimed = false
  return {
    at: () => sequence,
    claim: async () => {
      const stored = await cursors.claim(name)
      if (stored === null) return false
      sequence = stored
      isClaimed = true
      return true
    },
    move: (to) => {
      sequence = to
    },
    store: () => cursors.advance(name, sequence),
    release: async () => {
      if (!isClaimed) return
      isClaimed = false
      await cursors.release(name, sequence)
    },
  }
}

/** Delivers an event; false if it was not delivered and there is no time for a retry. */
async function deliver(
  event: ContentEvent,
  { name, listener }: NamedListener,
  { attempts, inTime, failed }: ListenerOptions,
  stopping: AbortSignal,
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      await inTime(name, () => listener(event))
      return true
    } catch (error) {
      failed(name, error)
      if (attempt >= attempts) {
        failed(name, new Error(`Event ${event.sequence} failed ${attempts} times and is skipped`))
        return true
      }
    }
    if (!(await pause(Math.min(longestWait, firstWait * 2 ** (attempt - 1)), stopping))) return false
  }
}

/** Waits; returns false if the wait was aborted. */
function pause(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false)
  return new Promise((resolve) => {
    const cut = () => {
      clearTimeout(timer)
      resolve(false)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', cut)
      resolve(true)
    }, milliseconds)
    timer.unref()
    signal.addEventListener('abort', cut, { once: true })
  })
}
