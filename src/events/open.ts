// Opens the events of a service: the log of what has been recorded, and the listeners of the project.
import type { MainConnection, WriteDatabase } from '../database/database.js'
import type { EventListener } from '../public/events.js'
import { runCode } from '../runtime/project-code.js'
import { type ListenerCursors, openListenerCursors } from './cursors.js'
import { type NamedListener, openListeners } from './listeners.js'
import { type EventLog, openEventLog } from './outbox.js'

export interface EventsOptions {
  readonly database: MainConnection
  readonly writer: WriteDatabase
  readonly listeners: readonly EventListener[]
  /** How often an event is delivered to a listener that fails, and for how many milliseconds it may run. */
  readonly limits: { readonly listenerAttempts: number; readonly hookTimeout: number; readonly drainTimeout: number }
  /** Called with listeners that fail. */
  failed(listener: string, error: unknown): void
}

export interface Events {
  readonly log: EventLog
  /** There may be new events: called after each commit. */
  committed(): void
  /** Lets listeners hear of what was recorded, for a moment; the rest is delivered after the next start. */
  close(): Promise<void>
}

/** Milliseconds in which listeners are given what is left when the service stops. */
const longestClosing = 5_000

export async function openEvents({ database, writer, listeners, limits, failed }: EventsOptions): Promise<Events> {
  const log = openEventLog(database)
  const named = namesOf(listeners)
  if (named.length === 0) return { log, committed: () => {}, close: async () => {} }
  const cursors = openListenerCursors(database, writer, (error) => failed('listeners', error))
  const delivery = openListeners(named, {
    read: log.after,
    last: log.last,
    cursors,
    failed,
    attempts: limits.listenerAttempts,
    lastDelivered: await cursorsOf(named, cursors, log),
    inTime: async (name, run) => void (await runCode({ name, requestId: null }, limits.hookTimeout, run)),
  })
  return {
    log,
    committed: delivery.poll,
    close: async () => {
      await delivery.close(Math.min(longestClosing, limits.drainTimeout / 5))
      cursors.close()
    },
  }
}

/** How far each listener has been told. */
async function cursorsOf(
  listeners: readonly NamedListener[],
  cursors: ListenerCursors,
  log: EventLog,
): Promise<ReadonlyMap<string, number>> {
  try {
    return await cursors.register(
      listeners.map(({ name }) => name),
      await log.last(),
    )
  } catch (error) {
    cursors.close()
    throw error
  }
}

/** Listeners go by the names of their functions, which therefore should have some; those that have none go by their place. */
function namesOf(listeners: readonly EventListener[]): readonly NamedListener[] {
  const names = listeners.map(({ name }) => name)
  return listeners.map((listener, index) => ({
    name:
      names[index] !== '' && names.indexOf(names[index]!) === names.lastIndexOf(names[index]!)
        ? names[index]!
        : `events.listeners[${index}]`,
    listener,
  }))
}
