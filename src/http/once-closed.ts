// The end of a response, also of one that waits behind another on its connection: Node never closes that when the connection is lost.
import type { ServerResponse } from 'node:http'

/** Whether the response was sent, or never will be. */
export const isClosed = (response: ServerResponse): boolean => response.closed || response.req.socket.destroyed

const nothing = (): void => {}

/** Calls `done` once, when the response was sent, or never will be; at once if that is so already. Returns a function after which it is not called. */
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
