// All open event streams of a process: how many there may be, and reads that several of them share.

import type { EntryEventSummary, EventBatch } from '../../../content/events/event-summaries.js'
import type { StreamedEvents } from '../../../content/events/open.js'
import { ApiError } from '../../../foundation/errors/errors.js'
import type { StreamConnection } from './connection.js'

/** Limits of streams. */
export interface StreamLimits {
  readonly eventStreams: number
  readonly eventStreamsPerAddress: number
}

/** The open streams. */
export interface Streams {
  /** Counts a stream until it ends. @throws ApiError 503 for too many, 429 for too many of one address */
  enter(address: string, connection: StreamConnection): void
  /** @throws ApiError as `enter`, before a connection is begun */
  check(address: string): void
  /** Reads events; streams that are at the same place share what is read. */
  read(after: number): Promise<EventBatch>
  /** Renders an event once for all streams that need it at the same moment and would get the same. */
  shared(key: string, summary: EntryEventSummary, render: () => Promise<string | null>): Promise<string | null>
  onEvents(listener: () => void): () => void
  readonly events: StreamedEvents
  /** Ends all streams, and each further one at once: browsers connect again after the end of a stream, but not after an error. */
  close(): void
}

export function openStreams(events: StreamedEvents, limits: StreamLimits): Streams {
  const open = new Map<StreamConnection, string>()
  const batches = openShared<EventBatch>()
  const rendered = openShared<string | null>()
  let isClosed = false

  function check(address: string): void {
    if (open.size >= limits.eventStreams) throw new ApiError('ServiceUnavailableError', 'Too many event streams are open')
    const own = [...open.values()].filter((other) => other === address).length
    if (own >= limits.eventStreamsPerAddress)
      throw new ApiError('RateLimitError', `Your address has ${own} open event streams, which is the limit`)
  }

  return {
    check,
    enter: (address, connection) => {
      open.set(connection, address)
      connection.onEnd(() => open.delete(connection))
      if (isClosed) connection.end()
    },
    read: (after) => batches.get(String(after), () => events.read(after)),
    shared: (key, { sequence }, render) => rendered.get(`${sequence} ${key}`, render),
    onEvents: events.onEvents,
    events,
    close: () => {
      isClosed = true
      for (const connection of open.keys()) connection.end()
    },
  }
}

interface SharedReads<Result> {
  get(key: string, make: () => Promise<Result>): Promise<Result>
}

/** A result that is being made, and the next one, which waits for it. */
interface Making<Result> {
  running: Promise<unknown>
  next: Promise<Result> | null
}

/** Lets callers share results by key. Whoever calls gets a result that was begun after that. */
function openShared<Result>(): SharedReads<Result> {
  const making = new Map<string, Making<Result>>()
  return {
    get: (key, make) => {
      const own = making.get(key) ?? { running: Promise.resolve(), next: null }
      making.set(key, own)
      own.next ??= own.running.then(() => {
        const begun = make()
        own.next = null
        own.running = begun
          .catch(() => {})
          .finally(() => {
            if (own.next === null) making.delete(key)
          })
        return begun
      })
      return own.next
    },
  }
}
