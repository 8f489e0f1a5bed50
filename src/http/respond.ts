// Sends replies and errors; the only code that writes response bodies of the API.
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import type { ReadBytes } from '../content/documents/read/find.js'
import { boundedDetails } from '../foundation/errors/bounded-values.js'
import { ApiError } from '../foundation/errors/errors.js'
import type { FailureLog } from '../foundation/runtime/repeated-failures.js'
import { onceClosed } from './once-closed.js'
import type { ByteSource, Reply } from './request-context.js'
import { noteFailure } from './request-log.js'
import { respondStream } from './stream-response.js'

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

/** Sends a reply whose body comes in pieces. A failure of its source is an error of the request until something was sent, then it is logged. */
export function respondFrom(reply: FastifyReply, source: ByteSource, { status, headers = {} }: Reply): Promise<FastifyReply> {
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
function endWithOthers(response: ServerResponse, text: string): void {
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
    endWithOthers(raw, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1'))
    release()
    return reply
  }
  // The shared memory is released when the response was sent or aborted.
  onceClosed(raw, release)
  raw.end(bytes)
  return reply
}

/**
 * Sends an error in Strapi's format. An error that is not an ApiError is a bug: 500 without details; the request id leads to the log entry.
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
  return causes.report(causeOf(error), `a request was refused: ${message}`, request.id)
}

/** Returns the cause of an error, if it is known. */
const causeOf = (error: unknown): unknown => (error instanceof Error && error.cause !== undefined ? error.cause : error)

const noDescriptor = new Set(['EMFILE', 'ENFILE'])
/** Errors that one error may name as the cause of another before it is looked at no further. */
const causesInRow = 5

/** Whether the process, or the machine, could open no more: true whatever was to be opened, and over soon. */
function isOutOfDescriptors(error: unknown): boolean {
  let each = error
  for (let n = 0; n < causesInRow && each instanceof Error; n++, each = each.cause)
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
