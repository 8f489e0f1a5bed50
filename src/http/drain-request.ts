// Discards the rest of a request that was answered before it was read completely, then closes the connection.
import type { IncomingMessage } from 'node:http'

/** Milliseconds for the rest of a small body, or for the client to read the response. */
const grace = 1_000

/** Discards the rest of an answered request for a short time, then closes the connection. */
export function drainRequest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return
  const { socket } = request
  const cut = setTimeout(() => socket.destroy(), grace)
  cut.unref()
  request.once('end', () => clearTimeout(cut))
  request.once('close', () => clearTimeout(cut))
  request.on('error', () => {})
  request.resume()
}
