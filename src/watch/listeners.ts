// Tells the project's listeners what has been recorded: in order, one event at a time, a few read at once, however many wait.
import type { ContentEvent, EventListener } from '../events.js'

export interface ListenerOptions {
  /** Events with a higher sequence than this one, oldest first; at most as many as `limit`. */
  read(after: number, limit: number): Promise<readonly ContentEvent[]>
  /** The last event of the past, which is not told again. */
  readonly last: number
  /** Runs a listener for as long as it may take. */
  inTime(name: string, run: () => unknown): Promise<void>
  /** Told of listeners that fail, and of events that were not kept long enough to be told. */
  failed(what: string, error: unknown): void
}

export interface Listeners {
  /** There may be new events. */
  look(): void
  /** Resolves when everything that was recorded has been told. */
  close(): Promise<void>
}

/** Events that are read at once. */
const portion = 50

export function openListeners(listeners: readonly EventListener[], { read, last, inTime, failed }: ListenerOptions): Listeners {
  let told = last
  let running: Promise<void> | null = null
  let again = false

  async function tell(event: ContentEvent): Promise<void> {
    for (const [index, listener] of listeners.entries()) {
      const name = `events.listeners[${index}]`
      await inTime(name, () => listener(event)).catch((error) => failed(name, error))
    }
  }

  async function tellAll(): Promise<void> {
    for (;;) {
      again = false
      const events = await read(told, portion)
      const [first] = events
      if (first === undefined) {
        if (again) continue
        return
      }
      if (first.sequence > told + 1)
        failed('listeners', new Error(`Events ${told + 1} to ${first.sequence - 1} were taken away before they were told`))
      for (const event of events) {
        await tell(event)
        told = event.sequence
      }
    }
  }

  function look(): void {
    again = true
    running ??= tellAll()
      .catch((error) => failed('listeners', error))
      .finally(() => {
        running = null
        if (again) look()
      })
  }

  return {
    look,
    close: async () => {
      while (running !== null) await running
    },
  }
}
