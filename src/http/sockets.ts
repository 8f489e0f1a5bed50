// Which connections have a request under way: when the service stops, these may end it and all others end at once.
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Watches the connections of a server; the answer ends those that have nothing under way, now and from now on. */
export function watchSockets(server: Server): () => void {
  const underWay = new Map<Socket, number>()
  let ending = false
  const settle = (socket: Socket) => {
    if (ending && underWay.get(socket) === 0) socket.destroySoon()
  }
  server.on('connection', (socket: Socket) => {
    underWay.set(socket, 0)
    socket.once('close', () => underWay.delete(socket))
    settle(socket)
  })
  server.on('request', ({ socket }, response) => {
    underWay.set(socket, (underWay.get(socket) ?? 0) + 1)
    response.once('close', () => {
      if (!underWay.has(socket)) return
      underWay.set(socket, underWay.get(socket)! - 1)
      settle(socket)
    })
  })
  return () => {
    ending = true
    for (const socket of underWay.keys()) settle(socket)
  }
}
