// Streams the body of a form to its parser. Only a few forms are processed concurrently and take turns, so that two hundred forms need
// little more memory than ten and do not block other requests.
import type { IncomingMessage } from 'node:http'
import type { Writable } from 'node:stream'
import type { Library } from '../content/media/library.js'
import { ApiError } from '../foundation/errors/errors.js'

/** Milliseconds of a turn while the client keeps sending, and how long a turn waits for the next chunk. */
const turn = 100
const chunkTimeout = 5

/**
 * Streams a request to a parser and ends the parser with it. Returns false if the request was aborted. `stop` ends it early.
 * @throws ApiError 413 if it is too large.
 */
export async function streamInTurn(
  request: IncomingMessage,
  parser: Writable,
  { limits, inTurn }: Library,
  stop: AbortSignal,
): Promise<boolean> {
  const incoming = watch(request, stop)
  let bytes = 0
  const takeTurn = async (): Promise<void> => {
    const end = performance.now() + turn
    while (!stop.aborted && performance.now() < end) {
      const chunk = incoming.read()
      if (chunk === null && (request.readableEnded || request.destroyed)) return
      bytes += chunk?.length ?? 0
      if (bytes > limits.uploadBytes) throw new ApiError('PayloadTooLargeError', 'The form is too large')
      if (chunk !== null) await write(parser, chunk, stop)
      if (!(await incoming.next(chunkTimeout))) return
    }
  }
  while (!request.readableEnded && !stop.aborted) {
    if (request.readableLength === 0 && request.destroyed) return false
    await inTurn(takeTurn)
    if (!request.readableEnded && !stop.aborted) await incoming.next()
  }
  if (!stop.aborted) parser.end()
  return true
}

/** Writes a chunk to the parser; resolves when the parser and the disk have taken it, or when the form has failed. */
function write(parser: Writable, chunk: Buffer, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stop.removeEventListener('abort', done)
      resolve()
    }
    stop.addEventListener('abort', done)
    parser.write(chunk, done)
  })
}

interface IncomingData {
  read(): Buffer | null
  /** Resolves to true if there is new data or the request has ended, and to false after `atMost` milliseconds. */
  next(atMost?: number): Promise<boolean>
}

/** Watches for new data. Events that occur while nothing waits for them are remembered. */
function watch(request: IncomingMessage, stop: AbortSignal): IncomingData {
  let hasNews = false
  let wake = (): void => {}
  const notify = (): void => {
    hasNews = true
    wake()
  }
  const events = ['readable', 'end', 'close', 'error']
  for (const event of events) request.on(event, notify)
  stop.addEventListener('abort', () => {
    // Remove the listeners, so that the rest of the request can be discarded.
    for (const event of events) request.off(event, notify)
    notify()
  })
  // If the request ended before it was watched, there is no further event.
  const ready = (): boolean => hasNews || request.readableLength > 0 || request.destroyed || request.readableEnded
  return {
    read: () => {
      hasNews = false
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
