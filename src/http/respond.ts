// Sends replies and errors; the only code that writes response bodies of the API.

import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import type { ReadBytes } from '../content/documents/read/find.js'
import { contentHash } from '../database/cache/response-store.js'
import type { Config } from '../foundation/config/config.js'
import { ApiError, boundedDetails } from '../foundation/errors/errors.js'
import type { FailureLog } from '../foundation/runtime/throttled-logs.js'
import { isClosed, onceClosed } from './connections.js'
import { isUncacheable } from './headers-and-cors.js'
import type { ByteSource, Reply, RequestContext } from './request-context.js'
import { noteFailure } from './request-context.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Logs the causes of failures. */
    readonly causes: FailureLog
  }
}

const json = 'application/json; charset=utf-8'

/** Sends a reply of a route. */
export function respond(reply: FastifyReply, { status, bytes, value, headers }: Reply): FastifyReply {
  reply.status(status)
  if (headers !== undefined) reply.headers(headers)
  if (bytes === undefined && value === undefined) return reply.send()
  if (headers?.['content-type'] === undefined) reply.header('content-type', json)
  return bytes === undefined ? reply.send(JSON.stringify(value)) : respondBytes(reply, bytes)
}

/** Sends a streamed body. Before the first byte, a failure of its source is an error of the request; later it is logged. */
export function respondWithSource(reply: FastifyReply, source: ByteSource, { status, headers = {} }: Reply): Promise<FastifyReply> {
  reply.status(status).headers(headers)
  const { causes } = reply.server
  return respondStream(reply, source, (error) => causes.report(error, 'the stream of a response failed', reply.request.id))
}

/** Responses up to this many bytes are copied, which is cheaper than a second buffer on the socket. */
export const smallResponse = 16_384

const ready: { readonly response: ServerResponse; readonly text: string }[] = []

/**
 * Ends a response with latin1 text at the end of this turn of the event loop, one right after the other: a client on the same machine is
 * woken up once for several of them, not in between the work for each.
 */
function endInBatch(response: ServerResponse, text: string): void {
  if (ready.push({ response, text }) > 1) return
  setImmediate(() => {
    for (const { response: one, text: body } of ready.splice(0)) {
      try {
        one.end(body, 'latin1')
      } catch (error) {
        one.destroy(error as Error)
      }
    }
  })
}

/** Sends bytes in shared memory directly to the socket, because Fastify does not recognize them as a buffer. */
function respondBytes(reply: FastifyReply, { bytes, release }: ReadBytes): FastifyReply {
  const { raw, statusCode } = reply
  reply.header('content-length', bytes.length)
  reply.hijack()
  raw.writeHead(statusCode, reply.getHeaders() as OutgoingHttpHeaders)
  if (bytes.length <= smallResponse) {
    // As latin1 text, Node sends headers and body in one packet.
    endInBatch(raw, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'))
    release()
    return reply
  }
  // The shared memory is released when the response was sent or aborted.
  onceClosed(raw, release)
  raw.end(bytes)
  return reply
}

/**
 * Sends an error in Strapi's format. An error that is not an ApiError is a bug: 500 without details; the request id identifies the log entry.
 */
export function respondError(reply: FastifyReply, error: unknown): FastifyReply {
  const known = asApiError(error) ?? new ApiError('InternalServerError', 'Internal Server Error', null)
  noteFailure(reply.request, { name: known.name, message: known.message, loggedWith: logCause(reply, error, known) })
  return sendError(reply, known)
}

/** Sends an error that is part of normal operation: no cause of it is logged. */
export function respondExpectedError(reply: FastifyReply, error: ApiError): FastifyReply {
  noteFailure(reply.request, { name: error.name, message: error.message, loggedWith: undefined })
  return sendError(reply, error)
}

function sendError(reply: FastifyReply, { status, name, message, details, retryAfter }: ApiError): FastifyReply {
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
  const value = { data: null, error: { status, name, message, ...(details === null ? {} : { details: boundedDetails(details) }) } }
  return respond(reply, { status, value })
}

/** Logs the cause of a server error; returns the id of an earlier request if the same cause was just logged with it. */
function logCause({ request, server: { causes } }: FastifyReply, error: unknown, { status, message }: ApiError): string | undefined {
  if (!(error instanceof ApiError) && status === 500) return causes.report(error, 'a request failed', request.id)
  if (status < 500 || status === 501) return undefined
  return causes.report(getCause(error), `a request was refused: ${message}`, request.id)
}

const getCause = (error: unknown): unknown => (error instanceof Error && error.cause !== undefined ? error.cause : error)

const noDescriptor = new Set(['EMFILE', 'ENFILE'])
/** Maximum length of a chain of causes that is searched. */
const maxCauses = 5

/** True if the process or the machine has no file descriptors left, which is temporary. */
function isOutOfDescriptors(error: unknown): boolean {
  let each = error
  for (let n = 0; n < maxCauses && each instanceof Error; n++, each = each.cause)
    if (noDescriptor.has((each as NodeJS.ErrnoException).code ?? '')) return true
  return false
}

/** Converts errors of the HTTP library about invalid requests, keeping their status; null for other errors. */
function asApiError(error: unknown): ApiError | null {
  if (error instanceof ApiError) return error
  if (isOutOfDescriptors(error)) {
    const refusal = new ApiError('ServiceUnavailableError', 'The service has too many files and connections open at the moment')
    refusal.cause = error
    return refusal
  }
  const { statusCode, code } = error as { statusCode?: number; code?: string }
  if (statusCode === 413) return new ApiError('PayloadTooLargeError', 'Entity too large')
  if (statusCode === 414) return new ApiError('URITooLongError', 'URI Too Long')
  if (code === 'FST_ERR_BAD_URL') return new ApiError('BadRequestError', 'Bad Request')
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) return new ApiError('BadRequestError', 'Bad Request')
  return null
}

/** Responds with 405 as plain text, and the methods of the path in `Allow` (endpoints.8). */
export function methodNotAllowed(reply: FastifyReply, methods: readonly string[]): FastifyReply {
  return reply.status(405).header('allow', methods.join(', ')).type('text/plain; charset=utf-8').send('Method Not Allowed')
}

/** Responds to OPTIONS without preflight headers, with the methods of the path in `Allow` (endpoints.8). */
export function allowedMethods(reply: FastifyReply, methods: readonly string[]): FastifyReply {
  return reply.status(200).header('allow', methods.join(', ')).type('text/plain; charset=utf-8').send('')
}

/** A stream that fails within this time is an error, and one that is complete is sent as a whole. */
const beginningMs = 20
const beginningBytes = 16_384

interface StreamBeginning {
  readonly chunks: readonly Uint8Array[]
  /** The requested piece that has not arrived; null: the stream is complete. */
  readonly pending: Promise<Uint8Array | null> | null
}

/**
 * Sends a stream as the body. Resolves when its beginning was sent, or all of it if it is short. @throws what the source throws before that
 */
async function respondStream(reply: FastifyReply, source: ByteSource, failed: (error: unknown) => void): Promise<FastifyReply> {
  const { raw } = reply
  if (reply.request.method === 'HEAD' || raw.closed) {
    source.cancel()
    return reply.send()
  }
  const { chunks, pending } = await readBeginning(source)
  if (pending === null) return reply.send(Buffer.concat(chunks))
  if (isUncacheable(reply.statusCode)) reply.header('cache-control', 'no-store')
  reply.hijack()
  sendAll(raw, reply, chunks, pending, source).catch((error: unknown) => {
    failed(error)
    // The client must not accept a part as the complete response.
    raw.destroy()
    source.cancel()
  })
  return reply
}

async function readBeginning(source: ByteSource): Promise<StreamBeginning> {
  const ended = new AbortController()
  const late = pause(beginningMs, 'late' as const, { signal: ended.signal })
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

/** The version of a file: its strong ETag with quotes, and the time of its last change in whole seconds. */
interface SentVersion {
  readonly tag: string
  readonly changed: Date
}

/** The tag of `If-None-Match` that means the version with this strong ETag, as the client sent it. */
const findSentTag = (tags: string, tag: string): string | undefined =>
  tags
    .split(',')
    .map((one) => one.trim())
    .find((one) => one.replace(/^W\//, '') === tag)

/** True if the client already has the version with this strong ETag; null without `If-None-Match`. */
export function hasVersion(headers: IncomingHttpHeaders, tag: string): boolean | null {
  const tags = headers['if-none-match']
  return tags === undefined ? null : tags === '*' || findSentTag(tags, tag) !== undefined
}

/**
 * The ETag of a 304 to a client that has the version with this strong one: in the form that the client sent. A cache does not update a
 * response with a weak tag by a strong one (RFC 9111, section 4.3.4).
 */
export const getUnchangedTag = (headers: IncomingHttpHeaders, tag: string): string =>
  findSentTag(headers['if-none-match'] ?? '', tag) ?? tag

/** True if the client already has this version: the response is 304. */
export function isUnchanged(headers: IncomingHttpHeaders, { tag, changed }: SentVersion): boolean {
  const isKnown = hasVersion(headers, tag)
  if (isKnown !== null) return isKnown
  const since = Date.parse(headers['if-modified-since'] ?? '')
  return changed.getTime() <= since
}

/** True if a requested range refers to this version. */
export function rangeApplies(headers: IncomingHttpHeaders, { tag, changed }: SentVersion): boolean {
  const condition = headers['if-range']
  return condition === undefined || condition === tag || Date.parse(String(condition)) === changed.getTime()
}

/** Larger bodies have no ETag: hashing them would block other requests. */
const maxHashedBytes = 4_000_000

/** Caches may store the response to a read and must revalidate it. */
export const getCacheControl = ({ headers }: RequestContext['request']): string =>
  headers.authorization === undefined ? 'public, no-cache' : 'private, no-cache'

/**
 * The reply to a read: 304 where the client has these bytes. Caches may store it and must revalidate it; shared ones may
 * store it only for requests without credentials (RFC 9111, section 5.2.2).
 */
export function okRead({ request, metrics }: Pick<RequestContext, 'request' | 'metrics'>, bytes: ReadBytes): Reply {
  const caching = getCacheControl(request)
  if (bytes.bytes.length > maxHashedBytes) return { status: 200, bytes, headers: { 'cache-control': caching } }
  const tag = `"${bytes.cached?.hash ?? contentHash(bytes.bytes)}"`
  const headers = { 'cache-control': caching, etag: tag }
  if (hasVersion(request.headers, tag) !== true) return { status: 200, bytes, headers }
  bytes.release()
  metrics?.notModified()
  return { status: 304, headers: { ...headers, etag: getUnchangedTag(request.headers, tag) } }
}

/** The key of responses with more keys than a header may have; it is purged with every change. */
const anyType = 't-all'

/** A longer header has one key for everything. */
const maxSurrogateKeyBytes = 8_000

/** The form of a documentId that a header may contain. */
const plainId = /^[\w-]{1,64}$/

/** The header with the keys of a response. `types`: uids that it was read from; `documentId`: of its only document. */
export function createSurrogateKeys(
  { surrogateKeys }: Pick<Config, 'surrogateKeys'>,
  types: readonly string[],
  documentId: string | undefined,
): Readonly<Record<string, string>> {
  if (surrogateKeys === null) return {}
  const separator = surrogateKeys === 'Cache-Tag' ? ',' : ' '
  const ofDocument = documentId !== undefined && plainId.test(documentId) ? [`d-${documentId}`] : []
  const all = [...types.map((uid) => `t-${uid}`), ...ofDocument].join(separator)
  return { [surrogateKeys.toLowerCase()]: all.length <= maxSurrogateKeyBytes ? all : [anyType, ...ofDocument].join(separator) }
}
