// Tracks the connections of a server and closes them during a shutdown: every request sent before is answered, the last response of a
// connection has `Connection: close`, and only stalled connections are reset.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { pause } from '../foundation/runtime/clock.js'
import { leavePort } from '../foundation/runtime/shutdown.js'

export interface Connections {
  /** True once the shutdown has started, unless others serve on the same port. */
  isDraining(): boolean
  /** True once responses may be the last of their connections. */
  isEnding(): boolean
  /** Aborted when the server stops listening. */
  readonly stopping: AbortSignal
  /**
   * Resolves to true if the response about to be sent is the last on its connection, because the service is stopping and the connection
   * has no other request.
   */
  isLast(socket: Socket): Promise<boolean>
  /** Another process listens on the same port: a shutdown stops listening first, and announces nothing. */
  leaveToOthers(): void
  /**
   * Keeps serving for `delay` milliseconds, then stops listening. Resolves when all requests are answered and all connections have ended,
   * to the number of connections that were closed because their clients stalled. `closed` is called when it has stopped listening.
   */
  drain(delay: number, closed: () => void): Promise<number>
}

/** Time limits of a shutdown, in milliseconds. */
interface DrainLimits {
  /** For the whole shutdown, after `delay`. */
  readonly drainTimeout: number
}

/** Time for requests in transit on idle connections after the server stopped listening. */
const idleGraceMs = 100
/** Maximum time for accepting waiting connections, also as a share of the shutdown. */
const maxAcceptingMs = 5_000
const maxAcceptingShare = 1 / 5
/** The share of the shutdown for request bodies to arrive after the server stopped accepting connections. */
const bodyShare = 1 / 5
/** The share of the shutdown for responses; the rest is for closing everything else. */
const responseShare = 3 / 5
const stallCheckIntervalMs = 100

/** Starts to track the connections of a server. */
export function watchConnections(server: Server, { drainTimeout }: DrainLimits): Connections {
  const open = trackRequests(server)
  let state: 'serving' | 'draining' | 'ending' = 'serving'
  let isReplaced = false
  const stopping = new AbortController()
  async function stopListening(closed: () => void): Promise<void> {
    await leavePort()
    await acceptAll(server, open, performance.now() + Math.min(maxAcceptingMs, drainTimeout * maxAcceptingShare))
    // Closing an HTTP server would also destroy connections that look idle but have unread requests.
    NetServer.prototype.close.call(server)
    closed()
  }
  return {
    isDraining: () => state !== 'serving' && !isReplaced,
    isEnding: () => state !== 'serving',
    stopping: stopping.signal,
    isLast: async (socket) => {
      if (state === 'serving') return false
      await pendingReads()
      // A paused connection has unread data and waits for its responses to be sent.
      return open.requests.get(socket)?.size === 1 && !socket.isPaused()
    },
    leaveToOthers: () => {
      isReplaced = true
    },
    async drain(delay, closed) {
      if (state !== 'serving') return 0
      state = 'draining'
      if (!server.listening) return 0
      if (isReplaced) await stopListening(closed)
      // Connections that are in use learn by their next response that they end.
      if (delay > 0) await Promise.race([pause(delay), ...(isReplaced ? [open.allClosed()] : [])])
      stopping.abort()
      const end = performance.now() + drainTimeout * responseShare
      if (!isReplaced) await stopListening(closed)
      await pendingReads()
      if (open.requests.size > 0) await pause(idleGraceMs)
      await pendingReads()
      state = 'ending'
      open.closeIdle()
      return closeStalled(open, Math.min(performance.now() + drainTimeout * bodyShare, end), end)
    },
  }
}

interface OpenConnections {
  /** The requests of each connection that are not answered yet. */
  readonly requests: ReadonlyMap<Socket, ReadonlySet<IncomingMessage>>
  /** Number of connections since the start. */
  accepted(): number
  /** Closes the connections without requests, now and from now on. */
  closeIdle(): void
  /** Resolves when no connection is left. */
  allClosed(): Promise<void>
}

function trackRequests(server: Server): OpenConnections {
  const open = new Map<Socket, Set<IncomingMessage>>()
  let accepted = 0
  let closesIdle = false
  let onAllClosed: (() => void) | null = null

  async function closeIfIdle(socket: Socket): Promise<void> {
    if (open.get(socket)?.size !== 0) return
    await pendingReads()
    if (open.get(socket)?.size === 0) socket.destroySoon()
  }

  server.on('connection', (socket: Socket) => {
    accepted++
    open.set(socket, new Set())
    // Each of the responses that wait for one another listens for its end.
    socket.setMaxListeners(0)
    socket.once('close', () => {
      open.delete(socket)
      if (open.size === 0) onAllClosed?.()
    })
  })
  server.on('request', (request, response) => {
    const { socket } = request
    open.get(socket)?.add(request)
    response.once('close', () => {
      open.get(socket)?.delete(request)
      if (closesIdle) closeIfIdle(socket)
    })
  })

  return {
    requests: open,
    accepted: () => accepted,
    closeIdle: () => {
      closesIdle = true
      for (const socket of open.keys()) closeIfIdle(socket)
    },
    allClosed: async () => {
      if (open.size === 0) return
      await new Promise<void>((resolve) => {
        onAllClosed = resolve
      })
    },
  }
}

/** Accepts waiting connections until `end`, because the system resets them when the server stops listening. */
async function acceptAll(server: Server, open: OpenConnections, end: number): Promise<void> {
  shortenQueue(server)
  let before: number
  do {
    before = open.accepted()
    await pendingReads()
  } while (open.accepted() !== before && performance.now() < end)
}

/**
 * Resolves when all connections have ended, to the number of closed ones: stalled connections once it is `late`, and at `end` all remaining
 * ones.
 */
async function closeStalled(open: OpenConnections, late: number, end: number): Promise<number> {
  let closed = 0
  const checking = setInterval(() => {
    const now = performance.now()
    for (const [socket, requests] of open.requests) {
      if (now < end && (now < late || !isStalled(requests))) continue
      closed++
      socket.destroy()
    }
  }, stallCheckIntervalMs)
  await open.allClosed()
  clearInterval(checking)
  return closed
}

/**
 * True if all requests of a connection wait for the client to send more. If there are unread bytes, the service is slow, not the client;
 * and a complete request on the same connection is answered first.
 */
function isStalled(requests: ReadonlySet<IncomingMessage>): boolean {
  for (const { complete, readableLength } of requests) if (complete || readableLength > 0) return false
  return requests.size > 0
}

/**
 * Shortens the accept queue of the socket. A client that finds the queue full retries, and is refused once the server no longer listens,
 * before it has sent anything. Without this, late connections are reset. Node has no public API for the queue length.
 */
function shortenQueue(server: Server): void {
  const { _handle: handle } = server as unknown as { readonly _handle?: { listen?(length: number): number } }
  handle?.listen?.(0)
}

/** During a shutdown, adds `Connection: close` to the last response of a connection. */
export async function addConnectionClose(connections: Connections, { raw }: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (await connections.isLast(raw.socket)) reply.header('connection', 'close')
}

/** Resolves when all data that has arrived on any connection was read: after another turn of the event loop. */
const pendingReads = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

/** Minimum pace of a discarded request. */
const minPace = { bytes: 1_024, perMs: 2_000 }

/** Time for discarding a request that was refused because it was too slow. */
export const slowRequestDiscardMs = 1_000

/**
 * Discards the rest of a request after its response, for at most `maxMs`, then closes the connection. A client that is still sending reads
 * the response only afterwards, and closing at once would discard it.
 */
export function drainRequest(request: IncomingMessage, maxMs: number): void {
  if (request.complete || request.destroyed) return
  const { socket } = request
  const end = performance.now() + maxMs
  let read = socket.bytesRead
  // Discarded data has no events: it is counted at the socket.
  const watching = setInterval(
    () => {
      if (socket.bytesRead - read < minPace.bytes || performance.now() >= end) socket.destroy()
      read = socket.bytesRead
    },
    Math.min(minPace.perMs, maxMs),
  )
  watching.unref()
  const stop = () => clearInterval(watching)
  request.once('end', stop)
  request.once('close', stop)
  request.on('error', () => {})
  request.resume()
}

/** True if the response was sent, or cannot be sent. */
export const isClosed = (response: ServerResponse): boolean => response.closed || response.req.socket.destroyed

const nothing = (): void => {}

/**
 * Calls `done` once the response was sent or its connection lost, which Node does not report for responses waiting on the same connection.
 * Returns a function that cancels the call.
 */
export function onceClosed(response: ServerResponse, done: () => void): () => void {
  const { socket } = response.req
  if (isClosed(response)) {
    done()
    return nothing
  }
  let isOver = false
  const stop = (): void => {
    isOver = true
    response.off('close', end)
    socket.off('close', end)
  }
  const end = (): void => {
    // A listener that is removed during an event is still called.
    if (isOver) return
    stop()
    done()
  }
  response.on('close', end)
  socket.on('close', end)
  return stop
}
