// Streams of server-sent events: how many there may be, their connections, the ids of positions, and the loop that sends to a client.
import { createHash } from 'node:crypto'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../foundation/errors/errors.js'
import { openSealing, sealBytes } from '../foundation/runtime/encryption.js'
import { openWakeUp } from '../foundation/runtime/notifier.js'
import { isClosed, onceClosed } from './connections.js'

/** The part of all connections that may be event streams. */
const streamShare = 1 / 10

/** The client of a stream. */
export interface StreamOwner {
  /** An address or an administrator. */
  readonly key: string
  /** The subject of messages: `Your address has`. */
  readonly subject: string
  /** Maximum number of open streams. */
  readonly most: number
}

/** All open event streams of a process. */
export interface OpenStreams {
  /** Counts a stream until it ends. */
  enter(owner: StreamOwner, connection: StreamConnection): void
  /** @throws ApiError 503 for too many streams, 429 for too many of one owner */
  check(owner: StreamOwner): void
  /** Ends all streams and refuses others by ending them: browsers reconnect after the end of a stream, but not after an error. */
  close(): void
}

export function createStreams({ connections }: { readonly connections: number }): OpenStreams {
  const open = new Map<StreamConnection, string>()
  const maxStreams = Math.ceil(connections * streamShare)
  let isClosed = false
  return {
    check: ({ key, subject, most }) => {
      if (open.size >= maxStreams) throw new ApiError('ServiceUnavailableError', 'Too many event streams are open')
      const own = [...open.values()].filter((other) => other === key).length
      if (own >= most) throw new ApiError('RateLimitError', `${subject} ${own} open event streams, which is the limit`)
    },
    enter: ({ key }, connection) => {
      open.set(connection, key)
      connection.onEnd(() => open.delete(connection))
      if (isClosed) connection.end()
    },
    close: () => {
      isClosed = true
      for (const connection of open.keys()) connection.end()
    },
  }
}

interface SharedResults<Result> {
  get(key: string, make: () => Promise<Result>): Promise<Result>
}

/** A running computation, and the next one, which waits for it. */
interface Computation<Result> {
  running: Promise<unknown>
  next: Promise<Result> | null
}

/** Shares results by key. Each caller gets a result that was started after its call. */
export function createSharedResults<Result>(): SharedResults<Result> {
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
/** A stream with more unsent bytes is closed. */
const maxUnsentBytes = 1_048_576

/** Proxies must not cache, change or buffer the stream. */
export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
}

/** Starts the response to a request, and counts its stream. Clients must send nothing else on its connection, which ends with it. */
export function startStream(streams: OpenStreams, owner: StreamOwner, reply: FastifyReply): StreamConnection {
  reply.headers(streamHeaders)
  const { raw } = reply
  reply.hijack()
  raw.writeHead(200, { ...(reply.getHeaders() as OutgoingHttpHeaders), connection: 'close' })
  const connection = connect(raw)
  streams.enter(owner, connection)
  return connection
}

function connect(raw: ServerResponse): StreamConnection {
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

/** Interval of messages without events, and maximum age of an identification. */
export const heartbeatMs = 15_000
const reconnectAfterMs = 3_000

/** The events of a stream. Positions are their sequences. */
export interface StreamSource {
  readonly ids: EventIds
  /** The id of the last event that the client has; null: it starts with new events. */
  readonly lastEventId: string | null
  /** Sequences of the oldest and the last stored event; 0 if there are none. */
  first(): Promise<number>
  last(): Promise<number>
  /** Calls `wake` when there may be more; returns the function that unsubscribes it. */
  subscribe(wake: () => void): () => void
  /**
   * Identifies the client, and sends the events after a position; resolves to the position reached, `reset` if events are missing there, or
   * null if the stream ends. @throws ApiError 401
   */
  send(position: number): Promise<number | 'reset' | null>
}

/** Sends until the client leaves. The status was sent: an error can only end the stream. The client connects again, and gets the error then. */
export function followUp(connection: StreamConnection, source: StreamSource, { server, id }: Pick<FastifyRequest, 'server' | 'id'>): void {
  sendAll(connection, source)
    .catch((error) => {
      if (!(error instanceof ApiError) || error.status >= 500) server.causes.report(error, 'an event stream ended', id)
    })
    .finally(connection.end)
}

async function sendAll(connection: StreamConnection, source: StreamSource): Promise<void> {
  const { ids } = source
  const wakeUp = openWakeUp()
  const unsubscribe = source.subscribe(wakeUp.now)
  connection.onEnd(wakeUp.now)
  try {
    let { position, isReset } = await beginAt(source)
    await connection.write(`retry: ${reconnectAfterMs}\n${isReset ? resetBlock(ids.of(position)) : `id: ${ids.of(position)}\n\n`}`)
    while (connection.isOpen()) {
      const sentTo = await source.send(position)
      if (sentTo === null) return
      isReset = sentTo === 'reset'
      const hasRead = isReset || sentTo !== position
      position = sentTo === 'reset' ? await source.last() : sentTo
      if (isReset) await connection.write(resetBlock(ids.of(position)))
      if (hasRead || (await wakeUp.wait(heartbeatMs))) continue
      // Without data, it is not an event: browsers only store the id.
      await connection.write(`id: ${ids.of(position)}\n\n`)
    }
  } finally {
    unsubscribe()
  }
}

/** The first position of a client. `isReset`: it has missed events that were deleted. */
async function beginAt({ first, last: findLast, lastEventId, ids }: StreamSource): Promise<{ position: number; isReset: boolean }> {
  const last = await findLast()
  if (lastEventId === null || lastEventId === '') return { position: last, isReset: false }
  const sequence = ids.read(lastEventId)
  const isKnown = sequence !== null && sequence <= last && (sequence === last || (await first()) <= sequence + 1)
  return isKnown ? { position: sequence, isReset: false } : { position: last, isReset: true }
}

const resetBlock = (id: string): string => `id: ${id}\nevent: reset\ndata: {"event":"reset"}\n\n`

/** The last `Last-Event-ID` of a request; undefined: none. */
export const lastEventIdOf = ({ headers }: FastifyRequest): string | undefined => {
  const { 'last-event-id': given } = headers
  return Array.isArray(given) ? given.at(-1) : given
}

/** Ids of positions, which reveal nothing about them. */
export interface EventIds {
  of(sequence: number): string
  /** The sequence of an id; null if this installation has not issued it. */
  read(id: string): number | null
}

const sequenceBytes = 8

/** Opens the ids. Processes with the same secret understand each other's. */
export function createEventIds(secret: string): EventIds {
  const { seal, open } = openSealing(createHash('sha256').update(secret).digest())
  return {
    of: (sequence) => {
      const plain = Buffer.alloc(sequenceBytes)
      plain.writeBigUInt64BE(BigInt(sequence))
      return seal(plain).toString('base64url')
    },
    read: (id) => {
      const bytes = Buffer.from(id, 'base64url')
      const plain = bytes.length === sequenceBytes + sealBytes ? open(bytes) : null
      return plain === null ? null : Number(plain.readBigUInt64BE())
    },
  }
}
