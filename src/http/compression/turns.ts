// Compresses bytes on Node's thread pool, a few at a time. What would wait for too long stays as it is: compression is never the reason
// for a refusal or a queue.
import { promisify } from 'node:util'
import { type BrotliOptions, brotliCompress, brotliCompressSync, constants, gzip, gzipSync, type ZlibOptions } from 'node:zlib'
import type { Coding } from './coding.js'

/** Limits of compression. */
export interface CompressionLimits {
  /** Responses that are compressed concurrently. */
  readonly compressionConcurrency: number
  /** Bytes of all responses that are being compressed or wait for it. */
  readonly compressionBytes: number
}

/** Bytes to compress. */
export interface Uncompressed {
  readonly bytes: Uint8Array
  /** Called once the bytes are no longer needed, whatever happens; not called if they stay as they are. */
  release(): void
  /** True if nobody waits for them any more. */
  isGone(): boolean
}

/** Returns compressed bytes; null if they are to be sent as they are. */
export type Compress = (given: Uncompressed, coding: Coding) => Promise<Uint8Array | null>

/** Qualities by measurement (decision 042): beyond them a response costs more milliseconds than its bytes save. */
const [brotliQuality, gzipLevel] = [3, 4]
/** Bits of the window, which bounds the memory of one compression to some megabytes. */
const brotliWindow = 20
/** Bytes that a smaller response counts as, so that their number is bounded too. */
const leastCounted = 65_536

/** Bytes that are compressed in place, in about a tenth of a millisecond: the way to the thread pool and back takes as long. */
const compressedInPlace = 12_000

/** Bytes of a piece of output: one is enough for most responses, and each is a way to the thread pool and back. */
const pieceOf = (length: number): number => Math.max(1_024, Math.ceil(length / 4))

const brotliOptions = ({ length }: Uint8Array): BrotliOptions => ({
  chunkSize: pieceOf(length),
  params: {
    [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
    [constants.BROTLI_PARAM_LGWIN]: brotliWindow,
    [constants.BROTLI_PARAM_SIZE_HINT]: length,
  },
})
const gzipOptions = ({ length }: Uint8Array): ZlibOptions => ({ chunkSize: pieceOf(length), level: gzipLevel })

const [brotliInPool, gzipInPool] = [
  promisify<Uint8Array, BrotliOptions, Buffer>(brotliCompress),
  promisify<Uint8Array, ZlibOptions, Buffer>(gzip),
]

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

/** Opens compression with limited concurrency and memory. */
export function openCompress({ compressionConcurrency, compressionBytes }: CompressionLimits): Compress {
  const waiting: (() => void)[] = []
  let [running, held] = [0, 0]

  /** Waits for a turn with a copy of the bytes, whose own memory belongs to a reader that needs it for other responses. */
  async function waitForTurn({ bytes, release, isGone }: Uncompressed): Promise<Uncompressed> {
    const copy = Buffer.from(bytes)
    release()
    await new Promise<void>((start) => waiting.push(start))
    return { bytes: copy, release: () => {}, isGone }
  }

  /** Starts the next one directly, so that no other can take its place. */
  function endTurn(): void {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }

  return async (given, coding) => {
    if (given.bytes.length <= compressedInPlace) return released(given, compressors[coding].inPlace)
    const counted = Math.max(given.bytes.length, leastCounted)
    if (held + counted > compressionBytes) return null
    held += counted
    try {
      if (running < compressionConcurrency) {
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

function released({ bytes, release }: Uncompressed, compress: Compressor['inPlace']): Uint8Array {
  try {
    return compress(bytes)
  } finally {
    release()
  }
}
