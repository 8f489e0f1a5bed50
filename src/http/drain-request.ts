// Discards the rest of a request that was answered before it was read completely, then closes the connection. A client that still sends
// reads the response only afterwards: a connection that is closed at once takes the response with it.
import type { IncomingMessage } from 'node:http'

/** The fewest bytes in so many milliseconds for which more is waited for. */
const pace = { bytes: 1_024, milliseconds: 2_000 }

/** For how long a request is discarded that was refused for coming too slowly, in milliseconds. */
export const slowRequestDiscardTime = 1_000

/** Discards the rest of an answered request as long as it comes, for at most `longest` milliseconds; closes the connection if that is not all. */
export function drainRequest(request: IncomingMessage, longest: number): void {
  if (request.complete || request.destroyed) return
  const { socket } = request
  const end = performance.now() + longest
  let read = socket.bytesRead
  // What is discarded has no events of its own: it is seen on the socket.
  const watching = setInterval(
    () => {
      if (socket.bytesRead - read < pace.bytes || performance.now() >= end) socket.destroy()
      read = socket.bytesRead
    },
    Math.min(pace.milliseconds, longest),
  )
  watching.unref()
  const stop = () => clearInterval(watching)
  request.once('end', stop)
  request.once('close', stop)
  request.on('error', () => {})
  request.resume()
}
