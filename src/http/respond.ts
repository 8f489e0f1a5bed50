// The one place where answers and errors become bytes and headers.
import type { OutgoingHttpHeaders } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { ReadBytes } from '../documents/read/find.js'
import { boundedDetails } from '../errors/bounded-values.js'
import { ApiError } from '../errors/errors.js'
import type { FailureLog } from '../runtime/repeated-failures.js'
import type { Reply } from './request-context.js'
import { noteFailure } from './request-log.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Where failures are told of. */
    readonly causes: FailureLog
  }
}

const json = 'application/json; charset=utf-8'

/** Sends a reply of a route. */
export function respond(reply: FastifyReply, { status, bytes, value, headers }: Reply): FastifyReply {
  reply.status(status)
  if (headers !== undefined) reply.headers(headers)
  if (bytes === undefined && value === undefined) return reply.send()
  reply.header('content-type', json)
  return bytes === undefined ? reply.send(JSON.stringify(value)) : respondBytes(reply, bytes)
}

/** Answers of so many bytes are copied rather than lent: that is cheaper than a second buffer on the socket. */
export const onePiece = 16_384

/** Bytes in shared memory go to the socket as they are: Fastify would take them for an object. */
function respondBytes(reply: FastifyReply, { bytes, release }: ReadBytes): FastifyReply {
  const { raw, statusCode } = reply
  reply.header('content-length', bytes.length)
  reply.hijack()
  raw.writeHead(statusCode, reply.getHeaders() as OutgoingHttpHeaders)
  if (bytes.length <= onePiece) {
    // As one byte a character, Node sends headers and body in one piece.
    raw.end(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'), 'latin1')
    release()
    return reply
  }
  // The memory is lent: it goes back when the answer has left, or will not leave any more.
  if (raw.closed) release()
  else raw.once('close', release)
  raw.end(bytes)
  return reply
}

/**
 * Sends an error in the contract's shape. Anything that is not an ApiError is our bug: 500, nothing told but the
 * request's id, which leads to the log.
 */
export function respondError(reply: FastifyReply, error: unknown): FastifyReply {
  const known = asApiError(error) ?? new ApiError('InternalServerError', 'Internal Server Error', null)
  const { status, name, message, details, retryAfter } = known
  noteFailure(reply.request, { name, message, loggedWith: logCause(reply, error, known) })
  if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter))
  const value = { data: null, error: { status, name, message, ...(details === null ? {} : { details: boundedDetails(details) }) } }
  return respond(reply, { status, value })
}

/** Logs what is behind a failure of ours; returns the id of the request with which the same was logged just before. */
function logCause({ request, server: { causes } }: FastifyReply, error: unknown, { status, message }: ApiError): string | undefined {
  if (!(error instanceof ApiError) && status === 500) return causes.report(error, 'a request failed', request.id)
  if (status < 500 || status === 501) return undefined
  return causes.report(causeOf(error), `a request was refused: ${message}`, request.id)
}

/** What is behind a refusal, where it is known. */
const causeOf = (error: unknown): unknown => (error instanceof Error && error.cause !== undefined ? error.cause : error)

/** Errors of the HTTP library about what the client sent keep their status. */
function asApiError(error: unknown): ApiError | null {
  if (error instanceof ApiError) return error
  const { statusCode, code } = error as { statusCode?: number; code?: string }
  if (statusCode === 413) return new ApiError('PayloadTooLargeError', 'Entity too large')
  if (statusCode === 414) return new ApiError('URITooLongError', 'URI Too Long')
  if (code === 'FST_ERR_BAD_URL') return new ApiError('BadRequestError', 'Bad Request')
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) return new ApiError('BadRequestError', 'Bad Request')
  return null
}

/** 405 as plain text, with the methods that the path has (endpoints.8). */
export function methodNotAllowed(reply: FastifyReply, methods: readonly string[]): FastifyReply {
  return reply.status(405).header('allow', methods.join(', ')).type('text/plain; charset=utf-8').send('Method Not Allowed')
}

/** OPTIONS without a preflight: the methods that the path has. */
export function allowedMethods(reply: FastifyReply, methods: readonly string[]): FastifyReply {
  return reply.status(200).header('allow', methods.join(', ')).type('text/plain; charset=utf-8').send('')
}
