// Reads the body of a request, after its caller has been found to be allowed: bounded, lenient about what clients send.
import type { IncomingMessage } from 'node:http'
import qs from 'qs'
import { ApiError } from '../errors/errors.js'
import type { IncomingBodies, IncomingBody } from './incoming-bodies.js'
import { type JsonLimits, parseJson } from './json-body.js'

export interface BodyLimits extends JsonLimits {
  readonly bodyBytes: number
  /** Milliseconds for the whole body. */
  readonly requestTimeout: number
}

/**
 * The parsed body: JSON or a form; `undefined` where there is none or it is of another kind.
 * @throws ApiError 413 beyond `bodyBytes`, 503 where too much is coming in, 400 for broken JSON, or too much of it, 408 beyond
 *   `requestTimeout`, 499 where the client leaves before it is whole.
 */
export async function readBody(request: IncomingMessage, address: string, bodies: IncomingBodies, limits: BodyLimits): Promise<unknown> {
  const type = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  const isJson = type === 'application/json' || type.endsWith('+json')
  if (!isJson && type !== 'application/x-www-form-urlencoded') return undefined
  const bytes = await readBytes(request, bodies.begin(address), limits)
  if (bytes.length === 0) return undefined
  return isJson ? parseJson(bytes, limits) : qs.parse(bytes.toString('utf8'), { depth: 20, arrayLimit: 100, parameterLimit: 1000 })
}

async function readBytes(request: IncomingMessage, coming: IncomingBody, { bodyBytes, requestTimeout }: BodyLimits): Promise<Buffer> {
  let clock: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    clock = setTimeout(() => reject(tooSlow()), requestTimeout)
  })
  try {
    if (Number(request.headers['content-length'] ?? 0) > bodyBytes) throw tooLarge()
    return await Promise.race([collect(request, coming, bodyBytes), coming.refused, late])
  } finally {
    clearTimeout(clock)
    coming.end()
  }
}

async function collect(request: IncomingMessage, coming: IncomingBody, bodyBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    // The request itself stays open for its answer, whatever happens to its body.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > bodyBytes) throw tooLarge()
      coming.more(chunk.length)
      chunks.push(chunk)
    }
  } catch (error) {
    // A request fails only where its connection ends before it is whole: nothing of ours has.
    throw error instanceof ApiError ? error : new ApiError('ClientClosedRequestError', 'The client has left')
  }
  return Buffer.concat(chunks)
}

const tooLarge = (): ApiError => new ApiError('PayloadTooLargeError', 'request entity too large', null)
const tooSlow = (): ApiError => new ApiError('RequestTimeoutError', 'The body did not come in in time')
