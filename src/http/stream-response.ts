// Sends a response whose body comes in pieces: as fast as the client takes them, until it is complete or the client leaves.
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { isUncacheable } from './headers-and-cors.js'
import { isClosed, onceClosed } from './once-closed.js'
import type { ByteSource } from './request-context.js'

/** Milliseconds for the beginning of a stream: one that fails by then is an error, and one that is complete is sent in one piece. */
const beginningTime = 20
/** Bytes of the beginning. */
const beginningBytes = 16_384

/** The first pieces of a stream. */
interface Beginning {
  readonly chunks: readonly Uint8Array[]
  /** The piece that was asked for and is not there yet; null: the stream is complete. */
  readonly pending: Promise<Uint8Array | null> | null
}

/**
 * Sends a stream as the body. Resolves when its beginning was sent, or all of it if it is short. @throws what the source throws before that
 */
export async function respondStream(reply: FastifyReply, source: ByteSource, failed: (error: unknown) => void): Promise<FastifyReply> {
  const { raw } = reply
  if (reply.request.method === 'HEAD' || raw.closed) {
    source.cancel()
    return reply.send()
  }
  const { chunks, pending } = await beginningOf(source)
  if (pending === null) return reply.send(Buffer.concat(chunks))
  if (isUncacheable(reply.statusCode)) reply.header('cache-control', 'no-store')
  reply.hijack()
  sendAll(raw, reply, chunks, pending, source).catch((error: unknown) => {
    failed(error)
    // The client must not take what it has for the whole.
    raw.destroy()
    source.cancel()
  })
  return reply
}

async function beginningOf(source: ByteSource): Promise<Beginning> {
  const ended = new AbortController()
  const late = pause(beginningTime, 'late' as const, { signal: ended.signal })
  late.catch(() => {})
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for (;;) {
      const pending = source.next()
      const chunk = size > beginningBytes ? ('late' as const) : await Promise.race([pending, late])
      if (chunk === 'late') {
        pending.catch(() => {})
        return { chunks, pending }
      }
      if (chunk === null) return { chunks, pending: null }
      chunks.push(chunk)
      size += chunk.length
    }
  } finally {
    ended.abort()
  }
}

async function sendAll(
  raw: ServerResponse,
  reply: FastifyReply,
  chunks: readonly Uint8Array[],
  pending: Promise<Uint8Array | null>,
  source: ByteSource,
): Promise<void> {
  const unlessGone = watchClose(raw)
  // A length that the route has stated must be true.
  raw.strictContentLength = true
  raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders)
  raw.flushHeaders()
  for (const chunk of chunks) if (chunk.length > 0) raw.write(chunk)
  for (let next = pending; ; next = source.next()) {
    const chunk = await unlessGone(next)
    if (isClosed(raw)) {
      next.catch(() => {})
      return source.cancel()
    }
    if (chunk === null) break
    if (chunk.length > 0 && !raw.write(chunk)) await unlessGone(new Promise<null>((resolve) => raw.once('drain', () => resolve(null))))
  }
  raw.end()
}

/** Waits for something; resolves to null as soon as the connection is closed. One wait at a time, so that no wait outlives its result. */
function watchClose(raw: ServerResponse): <Result>(awaited: Promise<Result>) => Promise<Result | null> {
  let leave: () => void = () => {}
  onceClosed(raw, () => leave())
  return (awaited) =>
    new Promise((resolve, reject) => {
      leave = () => resolve(null)
      if (isClosed(raw)) leave()
      awaited.then(resolve, reject)
    })
}
