// Tells the project's listeners what has been recorded: each in order, one event at a time, from the place where it was left, however
// the process ended. One that fails is told again, and hinders no other.
import type { ContentEvent, EventListener } from '../public/events.js'

export interface NamedListener {
  readonly name: string
  readonly listener: EventListener
}

export interface ListenerOptions {
  /** Events with a higher sequence than this one, oldest first; at most as many as `limit`. */
  read(after: number, limit: number): Promise<readonly ContentEvent[]>
  /** The sequence of the last event. */
  last(): Promise<number>
  readonly places: Cursors
  /** Where each listener was left when the process began. */
  readonly from: ReadonlyMap<string, number>
  /** How often a listener is told of an event that it fails at. */
  readonly attempts: number
  /** Runs a listener for as long as it may take. */
  inTime(name: string, run: () => unknown): Promise<void>
  /** Told of listeners that fail, and of events that were not kept long enough to be told. */
  failed(what: string, error: unknown): void
}

/** How far each listener has been told, for all processes. */
export interface Cursors {
  claim(name: string): Promise<number | null>
  advance(name: string, sequence: number): Promise<boolean>
  release(name: string, sequence: number): Promise<void>
}

export interface Listeners {
  /** There may be new events. */
  poll(): void
  /** Tells what was recorded for at most so many milliseconds; what is left is told after the next start. */
  close(within: number): Promise<void>
}

/** Events that are read, and kept as told, at once. */
const portion = 50
/** Waits before an event is told again, growing from one to the other, and between looks for events of other processes; milliseconds. */
const [firstWait, longestWait, interval] = [1_000, 60_000, 2_000]
/** How long a process that has told everything keeps a listener for what comes next; milliseconds. */
const lingering = 300

export function openListeners(listeners: readonly NamedListener[], options: ListenerOptions): Listeners {
  const { failed } = options
  const stopping = new AbortController()
  const tellers = listeners.map((listener) => openTeller(listener, options, stopping.signal))
  const look = () => {
    for (const { wake } of tellers) wake()
  }
  const compare = () => {
    options.last().then(
      (last) => {
        for (const teller of tellers) if (teller.told() < last) teller.wake()
      },
      (error) => failed('listeners', error),
    )
  }
  const timer = setInterval(compare, interval)
  timer.unref()
  compare()
  return {
    poll: look,
    close: async (within) => {
      clearInterval(timer)
      stopping.abort()
      let late: NodeJS.Timeout | undefined
      const timeout = new Promise((resolve) => {
        late = setTimeout(resolve, within)
      })
      await Promise.race([Promise.all(tellers.map((teller) => teller.quiet())), timeout])
      clearTimeout(late)
      await Promise.all(tellers.map((teller) => teller.leave().catch((error) => failed('listeners', error))))
    },
  }
}

interface Teller {
  /** The last event that the listener is known to have heard of. */
  told(): number
  wake(): void
  /** Resolves when nothing is left to tell, or nothing can be told any more. */
  quiet(): Promise<void>
  /** Tells nothing more and keeps the place. */
  leave(): Promise<void>
}

function openTeller({ name, listener }: NamedListener, options: ListenerOptions, stopping: AbortSignal): Teller {
  const { read, places, from, attempts, inTime, failed } = options
  let told = from.get(name) ?? 0
  let hasClaimed = false
  let running: Promise<void> | null = null
  let again = false
  let isOver = false

  /** False where the listener has not heard of it and there is no time to tell it again. */
  async function tell(event: ContentEvent): Promise<boolean> {
    for (let attempt = 1; ; attempt++) {
      try {
        await inTime(name, () => listener(event))
        return true
      } catch (error) {
        failed(name, error)
        if (attempt >= attempts) {
          failed(name, new Error(`Event ${event.sequence} was told ${attempts} times in vain and is left out`))
          return true
        }
      }
      if (!(await pause(Math.min(longestWait, firstWait * 2 ** (attempt - 1)), stopping))) return false
    }
  }

  /** Tells a portion. `over`: no more can be told, or another process has taken the listener over. */
  async function tellSome(): Promise<'some' | 'nothing' | 'over'> {
    const events = await read(told, portion)
    const [first] = events
    if (first === undefined) return 'nothing'
    if (first.sequence > told + 1)
      failed(name, new Error(`Events ${told + 1} to ${first.sequence - 1} were taken away before they were told`))
    for (const event of events) {
      if (isOver || !(await tell(event)) || isOver) return 'over'
      told = event.sequence
    }
    return (await places.advance(name, told)) ? 'some' : 'over'
  }

  async function tellAll(): Promise<void> {
    again = false
    const place = await places.claim(name)
    if (place === null) return
    told = place
    hasClaimed = true
    let last: Awaited<ReturnType<typeof tellSome>>
    do {
      again = false
      do last = await tellSome()
      while (last === 'some')
    } while (last !== 'over' && !isOver && (again || (await pause(lingering, stopping))) && again)
    await leave()
  }

  async function leave(): Promise<void> {
    if (!hasClaimed) return
    hasClaimed = false
    await places.release(name, told)
  }

  function wake(): void {
    again = true
    if (isOver) return
    running ??= tellAll()
      .catch((error) => failed(name, error))
      .finally(() => {
        running = null
        if (again && !stopping.aborted) wake()
      })
  }

  return {
    told: () => told,
    wake,
    quiet: async () => {
      while (running !== null) await running
    },
    leave: async () => {
      isOver = true
      await leave()
    },
  }
}

/** Waits; false where that was cut short. */
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
