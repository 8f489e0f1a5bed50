// All open event streams of a process: how many there may be, and reads that several of them share.
import type { ServerResponse } from 'node:http'
import type { EntryEventSummary, EventBatch } from '../../content/events/event-log.js'
import type { StreamedEvents } from '../../content/events/open.js'
import { ApiError } from '../../foundation/errors/errors.js'
import { isClosed, onceClosed } from '../connections.js'

/** The part of all connections that may be event streams. */
const streamShare = 1 / 10

interface StreamLimits {
  readonly eventStreamsPerAddress: number
  readonly connections: number
}

export interface OpenStreams {
  /** Counts a stream until it ends. @throws ApiError 503 for too many, 429 for too many of one address */
  enter(address: string, connection: StreamConnection): void
  /** @throws ApiError as `enter`, before a connection is begun */
  check(address: string): void
  /** Reads events; streams at the same position share the result. */
  read(after: number): Promise<EventBatch>
  /** Renders an event once for all streams that need the same text at the same time. */
  shared(key: string, summary: EntryEventSummary, render: () => Promise<string | null>): Promise<string | null>
  onEvents(listener: () => void): () => void
  readonly events: StreamedEvents
  /** Ends all streams and refuses others by ending them: browsers reconnect after the end of a stream, but not after an error. */
  close(): void
}

export function createStreams(events: StreamedEvents, limits: StreamLimits): OpenStreams {
  const open = new Map<StreamConnection, string>()
  const batches = createSharedResults<EventBatch>()
  const rendered = createSharedResults<string | null>()
  const maxStreams = Math.ceil(limits.connections * streamShare)
  let isClosed = false

  function check(address: string): void {
    if (open.size >= maxStreams) throw new ApiError('ServiceUnavailableError', 'Too many event streams are open')
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

/** A running computation, and the next one, which waits for it. */
interface Computation<Result> {
  running: Promise<unknown>
  next: Promise<Result> | null
}

/** Shares results by key. Each caller gets a result that was started after its call. */
function createSharedResults<Result>(): SharedReads<Result> {
  const making = new Map<string, Computation<Result>>()
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

export interface StreamConnection {
  isOpen(): boolean
  /** Resolves when the client can take more, or has left. */
  write(block: string): Promise<void>
  /** Calls `left` once, when the connection has ended. */
  onEnd(left: () => void): void
  /** Ends it with its connection, so that the client reconnects. */
  end(): void
}

/** A client must read sent data within this time. */
const drainTimeoutMs = 30_000

/** Starts the response. The connection is closed beyond `maxUnsentBytes`. */
export function startStream(raw: ServerResponse, maxUnsentBytes: number): StreamConnection {
  const { socket } = raw.req
  const isOpen = (): boolean => !raw.destroyed && !raw.writableEnded && !isClosed(raw)
  return {
    isOpen,
    write: async (block) => {
      if (!isOpen()) return
      const isTaken = raw.write(block)
      if (raw.writableLength > maxUnsentBytes) socket.destroy()
      else if (!isTaken) await waitForDrain(raw)
    },
    onEnd: (left) => {
      onceClosed(raw, left)
    },
    end: () => {
      if (isOpen()) raw.end(() => socket.destroySoon())
    },
  }
}

function waitForDrain(raw: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => raw.req.socket.destroy(), drainTimeoutMs)
    const end = () => {
      clearTimeout(timer)
      raw.off('drain', end)
      stop()
      resolve()
    }
    raw.once('drain', end)
    const stop = onceClosed(raw, end)
  })
}
