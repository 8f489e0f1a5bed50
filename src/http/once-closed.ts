// The end of a response, also of one that waits behind another on its connection: Node never closes that when the connection is lost.
import type { ServerResponse } from 'node:http'

/** Calls `done` once, when the response was sent, or never will be; at once if that is so already. */
export function onceClosed(response: ServerResponse, done: () => void): void {
  const { socket } = response.req
  if (response.closed || socket.destroyed) {
    done()
    return
  }
  let isOver = false
  const end = (): void => {
    // A listener that is removed during an event is still called.
    if (isOver) return
    isOver = true
    response.off('close', end)
    socket.off('close', end)
    done()
  }
  response.on('close', end)
  socket.on('close', end)
}
