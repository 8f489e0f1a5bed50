// The one line that the log has of each request: what was asked for, by whom, and how it ended. No values of the request: no query,
// and of messages only the words of ours.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiError } from '../errors.js'

/** What is noted of a request on its way, for its line. */
export type Noted = FastifyRequest & {
  /** Who asked: kind and id, never a token. */
  callerName?: string
  /** The content-type that it is about. */
  uid?: string
  /** How it was refused. */
  failure?: { readonly name: string; readonly message: string }
}

/** Characters of a path, and of a message. */
const [longestPath, longestMessage] = [500, 200]

/** Notes with which error a request is answered. */
export function noteFailure(request: FastifyRequest, { name, message }: Pick<ApiError, 'name' | 'message'>): void {
  // Quoted is what came with the request.
  const words = message.slice(0, 10 * longestMessage).replace(/`[^`]*(`|$)|"[^"]*("|$)/g, '…')
  ;(request as Noted).failure = { name, message: words.slice(0, longestMessage) }
}

/** Logs a request that was answered. */
export function logRequest(request: FastifyRequest, reply: FastifyReply): void {
  const { callerName, uid, failure } = request as Noted
  const [path = ''] = (request.raw.url ?? '').split('?', 1)
  request.log.info(
    {
      method: request.method,
      route: request.routeOptions.url,
      path: path.slice(0, longestPath),
      uid,
      status: reply.statusCode,
      error: reply.statusCode >= 400 ? failure : undefined,
      milliseconds: Math.round(reply.elapsedTime * 100) / 100,
      bytes: Number(reply.getHeader('content-length') ?? 0),
      caller: callerName,
      ip: request.ip,
    },
    'request',
  )
}

/** Logs a request whose client left before it had come in whole: no error, and nobody was answered. */
export function logAborted(request: FastifyRequest): void {
  request.log.info(
    { method: request.method, route: request.routeOptions.url, aborted: true, caller: (request as Noted).callerName, ip: request.ip },
    'the client left before its request had come in',
  )
}
