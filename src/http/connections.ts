// Tracks the connections of a server and closes them during a shutdown: every request sent before is answered, the last response of a
// connection has `Connection: close`, and only stalled connections are reset.
import type { IncomingMessage, Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { pause } from '../foundation/runtime/clock.js'
import { leavePort } from '../foundation/runtime/shared-port.js'

/** The connections of a server. */
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
   * to the number of connections that were closed because their clients stalled. `closed`: called when it does not listen any more.
   */
  drain(delay: number, closed: () => void): Promise<number>
}

/** Time limits of a shutdown, in milliseconds. */
export interface DrainLimits {
  /** For the whole shutdown, after `delay`. */
  readonly drainTimeout: number
  /** For request bodies to arrive after the server stopped accepting connections. */
  readonly drainBodies: number
}

/** Milliseconds for which an idle connection stays open after the server stopped listening, because a request may be on its way. */
const idleGrace = 100
/** Milliseconds for accepting waiting connections, and the maximum share of the shutdown for that. */
const [accepting, acceptingShare] = [5_000, 1 / 5]
/** The share of the shutdown for responses; the rest is for closing everything else. */
const responseShare = 3 / 5
/** Milliseconds between two checks for stalled connections during a shutdown. */
const checkInterval = 100

/** Starts to track the connections of a server. */
export function watchConnections(server: Server, { drainTimeout, drainBodies }: DrainLimits): Connections {
  const open = trackRequests(server)
  let state: 'serving' | 'draining' | 'ending' = 'serving'
  let isReplaced = false
  const stopping = new AbortController()
  async function stopListening(closed: () => void): Promise<void> {
    await leavePort()
    await acceptAll(server, open, performance.now() + Math.min(accepting, drainTimeout * acceptingShare))
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
      if (open.requests.size > 0) await pause(idleGrace)
      await pendingReads()
      state = 'ending'
      open.closeIdle()
      return closeStalled(open, Math.min(performance.now() + drainBodies, end), end)
    },
  }
}

/** The open connections of a server. */
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
  }, checkInterval)
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
 * before it has sent anything. Without this, connections of the last moment are reset. Node has no public API for the queue length.
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
