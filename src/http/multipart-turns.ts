// Hands the body of a form on. Only a few of all forms have their turn at once, and none waits long for its client within it:
// two hundred together need little more memory than ten, and leave room for other requests.
import type { IncomingMessage } from 'node:http'
import type { Writable } from 'node:stream'
import { ApiError } from '../errors/errors.js'
import type { Library } from '../uploads/library.js'

/** Milliseconds that a turn lasts while its client keeps sending, and that it waits for the client's next piece. */
const turn = 100
const patience = 5

/**
 * Pours a request into a parser, which is ended with it. False: the request broke off. `stop` ends it early.
 * @throws ApiError 413 when it is too large.
 */
export async function streamInTurn(
  request: IncomingMessage,
  parser: Writable,
  { limits, inTurn }: Library,
  stop: AbortSignal,
): Promise<boolean> {
  const arrival = watch(request, stop)
  let bytes = 0
  const takeTurn = async (): Promise<void> => {
    const end = performance.now() + turn
    while (!stop.aborted && performance.now() < end) {
      const chunk = arrival.read()
      if (chunk === null && (request.readableEnded || request.destroyed)) return
      bytes += chunk?.length ?? 0
      if (bytes > limits.uploadBytes) throw new ApiError('PayloadTooLargeError', 'The form is too large')
      if (chunk !== null) await given(parser, chunk, stop)
      if (!(await arrival.next(patience))) return
    }
  }
  while (!request.readableEnded && !stop.aborted) {
    if (request.readableLength === 0 && request.destroyed) return false
    await inTurn(takeTurn)
    if (!request.readableEnded && !stop.aborted) await arrival.next()
  }
  if (!stop.aborted) parser.end()
  return true
}

/** Resolves when the parser, and behind it the disk, has taken a piece; one whose form has failed takes nothing any more. */
function given(parser: Writable, chunk: Buffer, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stop.removeEventListener('abort', done)
      resolve()
    }
    stop.addEventListener('abort', done)
    parser.write(chunk, done)
  })
}

interface Arrival {
  read(): Buffer | null
  /** Resolves to true when something new can be read or the request ended, to false when `atMost` milliseconds are over. */
  next(atMost?: number): Promise<boolean>
}

/** Watches what comes in. What happens while nobody waits for it is remembered: it happens once. */
function watch(request: IncomingMessage, stop: AbortSignal): Arrival {
  let news = false
  let wake = (): void => {}
  const tell = (): void => {
    news = true
    wake()
  }
  const events = ['readable', 'end', 'close', 'error']
  for (const event of events) request.on(event, tell)
  stop.addEventListener('abort', () => {
    // Whoever discards the rest must find nobody listening.
    for (const event of events) request.off(event, tell)
    tell()
  })
  // A request that has ended before anybody watched it says so no more.
  const ready = (): boolean => news || request.readableLength > 0 || request.destroyed || request.readableEnded
  return {
    read: () => {
      news = false
      return request.read() as Buffer | null
    },
    next: async (atMost) => {
      if (ready()) return true
      const waited = new Promise<void>((resolve) => {
        wake = resolve
      })
      const timer = atMost === undefined ? undefined : setTimeout(wake, atMost)
      await waited
      clearTimeout(timer)
      return ready()
    },
  }
}
