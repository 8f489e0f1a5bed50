// The connections of a server, and how they end when the service stops: everything that was sent before is answered, on answers
// that say so, and nobody is reset.
import type { Server } from 'node:http'
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
   * connections have ended.
   */
  drain(delay: number): Promise<void>
}

/** Milliseconds that a connection without a request stays when nothing is accepted any more: one may be on its way. */
const quiet = 100
/** Milliseconds in which connections that wait to be accepted are accepted at the end. */
const accepting = 5_000

/** Watches the connections of a server from its start. */
export function watchConnections(server: Server): Connections {
  const underWay = new Map<Socket, number>()
  let state: 'serving' | 'draining' | 'ending' = 'serving'
  let accepted = 0
  let gone: (() => void) | null = null

  async function settle(socket: Socket): Promise<void> {
    if (state !== 'ending' || underWay.get(socket) !== 0) return
    await reading()
    if (underWay.get(socket) === 0) socket.destroySoon()
  }

  server.on('connection', (socket: Socket) => {
    accepted++
    underWay.set(socket, 0)
    socket.once('close', () => {
      underWay.delete(socket)
      if (underWay.size === 0) gone?.()
    })
  })
  server.on('request', ({ socket }, response) => {
    underWay.set(socket, (underWay.get(socket) ?? 0) + 1)
    response.once('close', () => {
      if (!underWay.has(socket)) return
      underWay.set(socket, underWay.get(socket)! - 1)
      settle(socket)
    })
  })

  /** Accepts whoever waits for it: the system resets those that still do when the server stops listening. */
  async function acceptAll(): Promise<void> {
    const end = performance.now() + accepting
    shortenQueue(server)
    let before: number
    do {
      before = accepted
      await reading()
    } while (accepted !== before && performance.now() < end)
  }

  return {
    isDraining: () => state !== 'serving',
    isLast: async (socket) => {
      if (state === 'serving') return false
      await reading()
      // A connection that is paused has more to be read than its answers have room for.
      return underWay.get(socket) === 1 && !socket.isPaused()
    },
    async drain(delay) {
      if (state !== 'serving') return
      state = 'draining'
      if (!server.listening) return
      if (delay > 0) await pause(delay)
      await acceptAll()
      // Only this: closing an HTTP server destroys connections that look idle, with requests that were not read yet.
      NetServer.prototype.close.call(server)
      await reading()
      if (underWay.size > 0) await pause(quiet)
      await reading()
      state = 'ending'
      for (const socket of underWay.keys()) settle(socket)
      if (underWay.size === 0) return
      await new Promise<void>((resolve) => {
        gone = resolve
      })
    },
  }
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
