// Compresses responses on Node's thread pool, a few at a time. Responses that would wait too long are not compressed, and neither are those
// with secrets, because their length would leak parts of the contents (BREACH).
import { promisify } from 'node:util'
import { type BrotliOptions, brotliCompress, brotliCompressSync, constants, gzip, gzipSync, type ZlibOptions } from 'node:zlib'
import type { FastifyReply } from 'fastify'
import { LRUCache } from 'lru-cache'
import Negotiator from 'negotiator'
import type { KeptForms, ReadBytes } from '../content/documents/read/find.js'
import { isSecret } from './headers-and-cors.js'
import type { Reply } from './request-context.js'

export interface Compression {
  /** Compresses the JSON bytes of a route's result if the client accepts that, and sets the headers of the reply. */
  result(reply: FastifyReply, result: Reply): Promise<Reply>
  /** The same for text or bytes that Fastify sends; returns it unchanged if it stays as it is. */
  payload(reply: FastifyReply, payload: unknown): Promise<unknown>
}

export function createCompression(limits: CompressionLimits): Compression {
  const chooseCoding = createCodingChoice()
  const compress = createCompress(limits)

  async function compressFor(reply: FastifyReply, given: Uncompressed, kept?: KeptForms): Promise<ReadBytes | null> {
    if (given.bytes.length < minCompressedBytes || isSecret(reply.request)) return null
    const coding = chooseCoding(String(reply.request.headers['accept-encoding'] ?? ''))
    if (coding === null) return null
    const known = kept?.form(coding)
    if (known !== undefined) given.release()
    const packed = known ?? (await compressBytes(given, coding))
    if (packed === null) return null
    // There are no bytes if the client has left.
    if (known === undefined && packed.bytes.length > 0) kept?.store(coding, packed.bytes)
    markCompressed(reply, coding, packed.bytes.length)
    return packed
  }

  async function compressBytes(given: Uncompressed, coding: Coding): Promise<ReadBytes | null> {
    const bytes = await compress(given, coding)
    return bytes === null ? null : { bytes, release: () => {} }
  }

  const isGone = (reply: FastifyReply) => () => reply.raw.closed

  return {
    result: async (reply, result) => {
      if (result.bytes === undefined) return result
      const { bytes, headers } = result
      const packed = await compressFor(reply, { ...bytes, isGone: isGone(reply) }, bytes.cached)
      if (packed === null) return result
      const tag = headers?.etag
      return {
        ...result,
        bytes: packed,
        ...(tag === undefined ? {} : { headers: { ...headers, etag: toWeakTag(String(tag)) } }),
      }
    },
    payload: async (reply, payload) => {
      if (reply.request.headers['accept-encoding'] === undefined || !mayCompress(reply)) return payload
      if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload
      const bytes = Buffer.isBuffer(payload) ? payload : Buffer.from(payload)
      return (await compressFor(reply, { bytes, release: () => {}, isGone: isGone(reply) }))?.bytes ?? payload
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
  if (typeof tag === 'string') reply.header('etag', toWeakTag(tag))
}

/** The ETag of the same document in other bytes: a strong one would promise the same bytes. */
const toWeakTag = (tag: string): string => (tag.startsWith('W/') ? tag : `W/${tag}`)

/** Responses that are compressed concurrently, on Node's four threads, which also read files and hash passwords. */
const maxConcurrent = 2

interface CompressionLimits {
  /** Bytes of all responses that are being compressed or wait for it. */
  readonly compressionBytes: number
}

interface Uncompressed {
  readonly bytes: Uint8Array
  /** Called once the bytes are no longer needed; not called if they are sent uncompressed. */
  release(): void
  /** True if the client has left. */
  isGone(): boolean
}

/** Returns compressed bytes; null: send them uncompressed. */
type CompressBytes = (given: Uncompressed, coding: Coding) => Promise<Uint8Array | null>

/** Qualities by measurement (decision 042): beyond them a response costs more milliseconds than its bytes save. */
const brotliQuality = 3
const gzipLevel = 4
/** Bits of the window, which bounds the memory of one compression to some megabytes. */
const brotliWindow = 20
/** Smaller responses count as this many bytes, so that their number is bounded too. */
const minCounted = 65_536

/** Smaller responses are compressed in place within 0.1 ms: a round trip to the thread pool takes as long. */
const maxInPlaceBytes = 12_000

/** Size of output chunks: one suffices for most responses, and each costs a round trip to the thread pool. */
const chunkSizeFor = (length: number): number => Math.max(1_024, Math.ceil(length / 4))

const brotliOptions = ({ length }: Uint8Array): BrotliOptions => ({
  chunkSize: chunkSizeFor(length),
  params: {
    [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
    [constants.BROTLI_PARAM_LGWIN]: brotliWindow,
    [constants.BROTLI_PARAM_SIZE_HINT]: length,
  },
})
const gzipOptions = ({ length }: Uint8Array): ZlibOptions => ({ chunkSize: chunkSizeFor(length), level: gzipLevel })

const brotliInPool = promisify<Uint8Array, BrotliOptions, Buffer>(brotliCompress)
const gzipInPool = promisify<Uint8Array, ZlibOptions, Buffer>(gzip)

interface Compressor {
  inPlace(bytes: Uint8Array): Uint8Array
  inPool(bytes: Uint8Array): Promise<Uint8Array>
}

const compressors: Readonly<Record<Coding, Compressor>> = {
  br: {
    inPlace: (bytes) => brotliCompressSync(bytes, brotliOptions(bytes)),
    inPool: (bytes) => brotliInPool(bytes, brotliOptions(bytes)),
  },
  gzip: {
    inPlace: (bytes) => gzipSync(bytes, gzipOptions(bytes)),
    inPool: (bytes) => gzipInPool(bytes, gzipOptions(bytes)),
  },
}

function createCompress({ compressionBytes }: CompressionLimits): CompressBytes {
  const waiting: (() => void)[] = []
  let running = 0
  let held = 0

  /** Waits for a turn with a copy of the bytes, because their memory belongs to a reader that needs it for other responses. */
  async function waitForTurn({ bytes, release, isGone }: Uncompressed): Promise<Uncompressed> {
    const copy = Buffer.from(bytes)
    release()
    await new Promise<void>((start) => waiting.push(start))
    return { bytes: copy, release: () => {}, isGone }
  }

  /** Starts the next one directly, so that no other can overtake it. */
  function endTurn(): void {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }

  return async (given, coding) => {
    if (given.bytes.length <= maxInPlaceBytes) return compressAndRelease(given, compressors[coding].inPlace)
    const counted = Math.max(given.bytes.length, minCounted)
    if (held + counted > compressionBytes) return null
    held += counted
    try {
      if (running < maxConcurrent) {
        running++
        return await compressInPool(given, coding)
      }
      return await compressInPool(await waitForTurn(given), coding)
    } finally {
      held -= counted
      endTurn()
    }
  }
}

async function compressInPool(given: Uncompressed, coding: Coding): Promise<Uint8Array> {
  try {
    return given.isGone() ? new Uint8Array() : await compressors[coding].inPool(given.bytes)
  } finally {
    given.release()
  }
}

function compressAndRelease({ bytes, release }: Uncompressed, compress: Compressor['inPlace']): Uint8Array {
  try {
    return compress(bytes)
  } finally {
    release()
  }
}

/** A content coding (RFC 9110, section 8.4) that the service can produce. */
type Coding = 'br' | 'gzip'

/** A smaller response fits in one packet and is not compressed. */
export const minCompressedBytes = 1_024

const codings: readonly Coding[] = ['br', 'gzip']
const available = [...codings, 'identity']
/** Media types that shrink. Images, videos, archives and PDF are compressed already; an event stream must not be held back. */
const compressible =
  /^(?:text\/(?!event-stream)|application\/(?:json|javascript|xml|manifest\+json|rtf|wasm)|image\/(?:svg\+xml|bmp|x-icon)|font\/(?:ttf|otf)|\S+\+(?:json|xml)(?:;|$))/

/** True for a `Content-Type` whose bytes shrink. */
export const isCompressible = (contentType: string): boolean => compressible.test(contentType)

const maxRememberedLength = 200
const maxRemembered = 100

/**
 * Opens the choice of a coding by `Accept-Encoding`. The client's q-values decide, then the coding that makes the response smaller; null
 * if it prefers the response as it is, or accepts no coding.
 */
export function createCodingChoice(): (acceptEncoding: string) => Coding | null {
  // `max` would allocate all memory at the start; `maxSize` grows with the entries.
  const remembered = new LRUCache<string, { readonly coding: Coding | null }>({ maxSize: maxRemembered, sizeCalculation: () => 1 })
  return (acceptEncoding) => {
    const known = remembered.get(acceptEncoding)
    if (known !== undefined) return known.coding
    const coding = preferredCoding(acceptEncoding)
    if (acceptEncoding.length <= maxRememberedLength) remembered.set(acceptEncoding, { coding })
    return coding
  }
}

function preferredCoding(acceptEncoding: string): Coding | null {
  const negotiator: PreferringNegotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } })
  const [preferred] = negotiator.encodings(available, { preferred: codings })
  return codings.find((coding) => coding === preferred) ?? null
}

/** The types of the library lack the option for codings that are preferred if the client has no preference. */
interface PreferringNegotiator {
  encodings(available: readonly string[], options: { readonly preferred: readonly string[] }): string[]
}
