// A request that was answered before it was read to its end: its client gets a moment to read the answer, then the line is cut.
import type { IncomingMessage } from 'node:http'

/** Milliseconds for the rest of a small body, or for a client to notice the answer. */
const grace = 1_000

/** Discards what still comes in of an answered request, for a moment. */
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
