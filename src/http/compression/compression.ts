// Compresses responses and says so in their headers. Responses that contain secrets stay as they are: their length would say something
// about what is in them (BREACH).
import type { FastifyReply } from 'fastify'
import type { KeptForms, ReadBytes } from '../../content/documents/read/find.js'
import { isSecret } from '../headers-and-cors.js'
import type { Reply } from '../request-context.js'
import { type Coding, isCompressible, leastCompressed, openCodings } from './coding.js'
import { type CompressionLimits, openCompress, type Uncompressed } from './turns.js'

/** Compression of responses. */
export interface Compression {
  /** Compresses the JSON bytes of a route's result if the client accepts that, and sets the headers of the reply. */
  result(reply: FastifyReply, result: Reply): Promise<Reply>
  /** The same for text or bytes that Fastify sends; returns it unchanged if it stays as it is. */
  payload(reply: FastifyReply, payload: unknown): Promise<unknown>
}

/** Opens compression. */
export function openCompression(limits: CompressionLimits): Compression {
  const codingOf = openCodings()
  const compress = openCompress(limits)

  async function compressed(reply: FastifyReply, given: Uncompressed, kept?: KeptForms): Promise<ReadBytes | null> {
    if (given.bytes.length < leastCompressed || isSecret(reply.request)) return null
    const coding = codingOf(String(reply.request.headers['accept-encoding'] ?? ''))
    if (coding === null) return null
    const known = kept?.form(coding)
    if (known !== undefined) given.release()
    const packed = known ?? (await packedBytes(given, coding))
    if (packed === null) return null
    // Of a client that has gone there are no bytes.
    if (known === undefined && packed.bytes.length > 0) kept?.keep(coding, packed.bytes)
    markCompressed(reply, coding, packed.bytes.length)
    return packed
  }

  async function packedBytes(given: Uncompressed, coding: Coding): Promise<ReadBytes | null> {
    const bytes = await compress(given, coding)
    return bytes === null ? null : { bytes, release: () => {} }
  }

  const isGone = (reply: FastifyReply) => () => reply.raw.closed

  return {
    result: async (reply, result) => {
      if (result.bytes === undefined) return result
      const { bytes, headers } = result
      const packed = await compressed(reply, { ...bytes, isGone: isGone(reply) }, bytes.kept)
      if (packed === null) return result
      const tag = headers?.etag
      return {
        ...result,
        bytes: packed,
        ...(tag === undefined ? {} : { headers: { ...headers, etag: weak(String(tag)) } }),
      }
    },
    payload: async (reply, payload) => {
      if (reply.request.headers['accept-encoding'] === undefined || !mayCompress(reply)) return payload
      if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
      const bytes = Buffer.isBuffer(payload) ? payload : Buffer.from(payload)
      return (await compressed(reply, { bytes, release: () => {}, isGone: isGone(reply) }))?.bytes ?? payload
    },
  }
}

/** True unless the headers of a reply rule compression out. */
function mayCompress(reply: FastifyReply): boolean {
  const [type, coding, range, caching = ''] = ['content-type', 'content-encoding', 'content-range', 'cache-control'].map((name) =>
    reply.getHeader(name),
  )
  if (coding !== undefined || range !== undefined || /\bno-transform\b/i.test(String(caching))) return false
  return typeof type === 'string' && isCompressible(type)
}

function markCompressed(reply: FastifyReply, coding: Coding, length: number): void {
  reply.header('content-encoding', coding).header('content-length', length).removeHeader('accept-ranges')
  const tag = reply.getHeader('etag')
  if (typeof tag === 'string') reply.header('etag', weak(tag))
}

/** The ETag of the same document in other bytes: a strong one would promise the same bytes. */
const weak = (tag: string): string => (tag.startsWith('W/') ? tag : `W/${tag}`)
