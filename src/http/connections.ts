// The connections of a server, and how they end when the service stops: everything that was sent before is answered, on answers
// that say so, and nobody is reset but those who stall.
import type { IncomingMessage, Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'

export interface Connections {
  /** True from the moment the service stops. */
  isDraining(): boolean
  /**
   * Resolves to true when the answer that is about to be sent on a connection is its last: the service stops, and nothing else has
   * been asked for on it.
   */
  isLast(socket: Socket): Promise<boolean>
  /**
   * Goes on serving for `delay` milliseconds, then stops listening, and resolves when all that was asked for is answered and all
   * connections have ended, or were cut because their clients stall: to their number.
   */
  drain(delay: number): Promise<number>
}

/** Milliseconds of a stop. */
export interface DrainLimits {
  /** For all of it, after `delay`. */
  readonly drainTimeout: number
  /** For requests to come in whole once nobody is accepted any more. */
  readonly drainBodies: number
}

/** Milliseconds that a connection without a request stays when nothing is accepted any more: one may be on its way. */
const quiet = 100
/** Milliseconds in which connections that wait to be accepted are accepted at the end, and the share of a stop that this may take. */
const [accepting, acceptingShare] = [5_000, 1 / 5]
/** The share of a stop for answers to be made and taken: the rest is for closing everything else in order. */
const answering = 3 / 5
/** Milliseconds between two looks for connections that stall while the service stops. */
const between = 100

/** Watches the connections of a server from its start. */
export function watchConnections(server: Server, { drainTimeout, drainBodies }: DrainLimits): Connections {
  const underWay = new Map<Socket, Set<IncomingMessage>>()
  let state: 'serving' | 'draining' | 'ending' = 'serving'
  let accepted = 0
  let gone: (() => void) | null = null

  async function settle(socket: Socket): Promise<void> {
    if (state !== 'ending' || underWay.get(socket)?.size !== 0) return
    await reading()
    if (underWay.get(socket)?.size === 0) socket.destroySoon()
  }

  server.on('connection', (socket: Socket) => {
    accepted++
    underWay.set(socket, new Set())
    socket.once('close', () => {
      underWay.delete(socket)
      if (underWay.size === 0) gone?.()
    })
  })
  server.on('request', (request, response) => {
    const { socket } = request
    underWay.get(socket)?.add(request)
    response.once('close', () => {
      underWay.get(socket)?.delete(request)
      settle(socket)
    })
  })

  /** Accepts whoever waits for it: the system resets those that still do when the server stops listening. */
  async function acceptAll(): Promise<void> {
    const end = performance.now() + Math.min(accepting, drainTimeout * acceptingShare)
    shortenQueue(server)
    let before: number
    do {
      before = accepted
      await reading()
    } while (accepted !== before && performance.now() < end)
  }

  /** Resolves when all connections have ended. Those whose clients stall are cut, everyone at `end`; resolves to their number. */
  async function settleAll(end: number): Promise<number> {
    for (const socket of underWay.keys()) settle(socket)
    if (underWay.size === 0) return 0
    const late = Math.min(performance.now() + drainBodies, end)
    let cut = 0
    const looking = setInterval(() => {
      const now = performance.now()
      for (const [socket, requests] of underWay) {
        if (now < end && (now < late || !stalls(requests))) continue
        cut++
        socket.destroy()
      }
    }, between)
    await new Promise<void>((resolve) => {
      gone = resolve
    })
    clearInterval(looking)
    return cut
  }

  return {
    isDraining: () => state !== 'serving',
    isLast: async (socket) => {
      if (state === 'serving') return false
      await reading()
      // A connection that is paused has more to be read than its answers have room for.
      return underWay.get(socket)?.size === 1 && !socket.isPaused()
    },
    async drain(delay) {
      if (state !== 'serving') return 0
      state = 'draining'
      if (!server.listening) return 0
      if (delay > 0) await pause(delay)
      const end = performance.now() + drainTimeout * answering
      await acceptAll()
      // Only this: closing an HTTP server destroys connections that look idle, with requests that were not read yet.
      NetServer.prototype.close.call(server)
      await reading()
      if (underWay.size > 0) await pause(quiet)
      await reading()
      state = 'ending'
      return settleAll(end)
    },
  }
}

/**
 * Whether a client has more to send of all that it has asked for. Where bytes of it wait to be read, it is the service that is late; and
 * what was sent whole before it on the same connection is answered first.
 */
function stalls(requests: ReadonlySet<IncomingMessage>): boolean {
  for (const { complete, readableLength } of requests) if (complete || readableLength > 0) return false
  return requests.size > 0
}

/**
 * Whoever comes when the queue of a listening socket is full tries again, and is refused once nothing listens: before it has sent
 * anything. Node has no public way to change the length of that queue; without this one some who come in the last moment are reset.
 */
function shortenQueue(server: Server): void {
  const { _handle: handle } = server as unknown as { readonly _handle?: { listen?(length: number): number } }
  handle?.listen?.(0)
}

/** While the service stops, the last answer of a connection says so. */
export async function sayLast(connections: Connections, { raw }: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (await connections.isLast(raw.socket)) reply.header('connection', 'close')
}

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Resolves when whatever had arrived on any connection by now has been read: the event loop has looked at all of them once more. */
const reading = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
