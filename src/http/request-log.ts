// The one line that the log has of each request: what was asked for, by whom, and how it ended. Nothing that was sent is in it: no
// query, no part of a path that names a document, and of messages only the words of ours.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiError } from '../errors/errors.js'

/** What is noted of a request on its way, for its line. */
export type Noted = FastifyRequest & {
  /** Who asked: kind and id, never a token. */
  callerName?: string
  /** The content-type that it is about. */
  uid?: string
  /** How it was refused. */
  failure?: Failure
}

interface Failure extends Pick<ApiError, 'name' | 'message'> {
  /** The id of the request with which its cause was logged, where that was another one. */
  readonly loggedWith?: string | undefined
}

/** Characters of a message. */
const longestMessage = 200

/** What messages quote is what was sent. */
const quoted = /`[^`]*(`|$)|"[^"]*("|$)|'[^']*('|$)/g

/** Words that what was sent follows without quotes, up to the end of the message. */
const introductions = [
  'Invalid key ',
  'Invalid locale param ',
  'Invalid parameters: ',
  'Invalid populate of ',
  'Invalid value for ',
  'Invalid number for ',
  ' got ',
  ' received: ',
  ' keys: ',
  'Files of the type ',
]

function ownWords(message: string): string {
  const words = message.slice(0, 10 * longestMessage).replace(quoted, '…')
  if (words.includes(' has no media attribute ')) return 'no media attribute'
  const ends = introductions.flatMap((introduction) => {
    const at = words.indexOf(introduction)
    return at === -1 ? [] : [at + introduction.length]
  })
  return ends.length === 0 ? words : `${words.slice(0, Math.min(...ends))}…`
}

/** Notes with which error a request is answered. */
export function noteFailure(request: FastifyRequest, { name, message, loggedWith }: Failure): void {
  ;(request as Noted).failure = { name, message: ownWords(message).slice(0, longestMessage), loggedWith }
}

/** The path of a request without its values: its route, with the name of a known content-type in its place. */
function pathOf(request: FastifyRequest): string | undefined {
  const { url } = request.routeOptions
  const { name } = request.params as { name?: string }
  return (request as Noted).uid === undefined || name === undefined ? url : url?.replace(':name', name.toLowerCase())
}

/** Logs a request that was answered. */
export function logRequest(request: FastifyRequest, reply: FastifyReply): void {
  const { callerName, uid, failure } = request as Noted
  request.log.info(
    {
      method: request.method,
      route: request.routeOptions.url,
      path: pathOf(request),
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
