// Reads the body of a request, with limits for size and time. Called only after the caller's permission was checked.
import type { IncomingMessage } from 'node:http'
import qs from 'qs'
import { ApiError } from '../foundation/errors/errors.js'
import type { IncomingBodies, IncomingBody } from './incoming-bodies.js'
import { type JsonLimits, parseJson } from './json-body.js'

/** The limits of a request body. */
export interface BodyLimits extends JsonLimits {
  readonly bodyBytes: number
  /** Milliseconds for the whole body. */
  readonly requestTimeout: number
}

/** Reads a multipart form as a body. */
export type ReadForm<Limits extends BodyLimits> = (request: IncomingMessage, incoming: IncomingBody, limits: Limits) => Promise<unknown>

/**
 * Reads and parses a JSON or form body; `undefined` if there is none or it has another type. `readForm`: multipart forms are read too.
 * @throws ApiError 413 beyond `bodyBytes`; 503 if too many bodies are incomplete; 400 for invalid or too complex JSON; 408 beyond
 *   `requestTimeout`; 499 if the client closes the connection.
 */
export async function readBody<Limits extends BodyLimits>(
  request: IncomingMessage,
  address: string,
  bodies: IncomingBodies,
  limits: Limits,
  readForm: ReadForm<Limits> | null = null,
): Promise<unknown> {
  const type = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  const isJson = type === 'application/json' || type.endsWith('+json')
  if (type === 'multipart/form-data' && readForm !== null) return readForm(request, bodies.begin(address), limits)
  if (!isJson && type !== 'application/x-www-form-urlencoded') return undefined
  const bytes = await readBytes(request, bodies.begin(address), limits)
  if (bytes.length === 0) return undefined
  return isJson ? parseJson(bytes, limits) : qs.parse(bytes.toString('utf8'), { depth: 20, arrayLimit: 100, parameterLimit: 1000 })
}

/** Reads the bytes of a body, whatever its type. @throws ApiError as `readBody`, except for its contents */
export const readRawBody = (request: IncomingMessage, incoming: IncomingBody, limits: BodyLimits): Promise<Buffer> =>
  readBytes(request, incoming, limits)

/** The bytes of a body as they arrive, at most `most`. @throws ApiError 413, also while it is read; 499 if the client closes the connection */
export function streamBody(request: IncomingMessage, most: number): AsyncIterable<Uint8Array> {
  if (Number(request.headers['content-length'] ?? 0) > most) throw tooLarge()
  return boundedChunks(request, most)
}

async function* boundedChunks(request: IncomingMessage, most: number): AsyncIterable<Uint8Array> {
  let length = 0
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > most) throw tooLarge()
      yield chunk
    }
  } catch (error) {
    throw error instanceof ApiError ? error : closed()
  }
}

async function readBytes(request: IncomingMessage, incoming: IncomingBody, { bodyBytes, requestTimeout }: BodyLimits): Promise<Buffer> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(tooSlow()), requestTimeout)
  })
  try {
    if (Number(request.headers['content-length'] ?? 0) > bodyBytes) throw tooLarge()
    return await Promise.race([collect(request, incoming, bodyBytes), incoming.refused, timeout])
  } finally {
    clearTimeout(timer)
    incoming.end()
  }
}

async function collect(request: IncomingMessage, incoming: IncomingBody, bodyBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    // The request stays open for its response even if reading the body fails.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > bodyBytes) throw tooLarge()
      incoming.add(chunk.length)
      chunks.push(chunk)
    }
  } catch (error) {
    // Any other error means that the connection ended before the body was complete.
    throw error instanceof ApiError ? error : closed()
  }
  return Buffer.concat(chunks)
}

const closed = (): ApiError => new ApiError('ClientClosedRequestError', 'The client closed the connection')
const tooLarge = (): ApiError => new ApiError('PayloadTooLargeError', 'request entity too large', null)
const tooSlow = (): ApiError => new ApiError('RequestTimeoutError', 'The request body did not arrive in time')
