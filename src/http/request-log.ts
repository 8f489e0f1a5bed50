// Logs one line per request: route, caller and outcome. It contains no data from the client: no query, no document id, and only the fixed
// parts of error messages.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ApiError } from '../foundation/errors/errors.js'
import type { TraceIds } from '../foundation/runtime/tracing.js'
import type { Model } from '../model/schema/types.js'

/** A request with the data for its log line. */
export type LoggedRequest = FastifyRequest & {
  /** Kind and id of the caller, never a token. */
  callerName?: string
  uid?: string
  /** The route, if the HTTP library has one route for several. */
  routeName?: string
  model?: Model
  /** Its trace, if traces are collected. */
  trace?: TraceIds
  failure?: Failure
}

interface Failure extends Pick<ApiError, 'name' | 'message'> {
  /** The id of the request in whose log entry the cause is, if it is another one. */
  readonly loggedWith?: string | undefined
}

const maxMessageLength = 200

/** Quoted parts of messages, which come from the client. */
const quoted = /`[^`]*(`|$)|"[^"]*("|$)|'[^']*('|$)/g

/** Phrases that are followed by unquoted data from the client, up to the end of the message. */
const beforeClientData = [
  'Invalid key ',
  'Invalid locale param ',
  'Invalid parameters: ',
  'Invalid populate of ',
  'Invalid value for ',
  'Invalid number for ',
  'Invalid boolean for ',
  ' got ',
  ' received: ',
  ' keys: ',
  'Files of the type ',
]

function withoutClientData(message: string): string {
  const words = message.slice(0, 10 * maxMessageLength).replace(quoted, '…')
  if (words.includes(' has no media attribute ')) return 'no media attribute'
  const ends = beforeClientData.flatMap((phrase) => {
    const at = words.indexOf(phrase)
    return at === -1 ? [] : [at + phrase.length]
  })
  return ends.length === 0 ? words : `${words.slice(0, Math.min(...ends))}…`
}

/** Adds the data to all requests, so that they have one shape. */
export function decorateRequests(app: FastifyInstance): void {
  const data = ['callerName', 'uid', 'routeName', 'model', 'trace', 'failure'] satisfies (keyof LoggedRequest)[]
  for (const name of data) app.decorateRequest(name, undefined)
}

/** Stores the caller of a request, and the model that it is handled with. */
export function noteCaller(request: FastifyRequest, name: string, model: Model): void {
  const logged = request as LoggedRequest
  logged.callerName = name
  logged.model = model
}

/** Stores the error of a response for its log line. */
export function noteFailure(request: FastifyRequest, { name, message, loggedWith }: Failure): void {
  ;(request as LoggedRequest).failure = { name, message: withoutClientData(message).slice(0, maxMessageLength), loggedWith }
}

const getRoute = (request: FastifyRequest): string | undefined => (request as LoggedRequest).routeName ?? request.routeOptions.url

/** Returns the route of a request, with the name of a known content-type instead of `:name`. */
export function getLoggedPath(request: FastifyRequest): string | undefined {
  const url = getRoute(request)
  const { name } = request.params as { name?: string }
  return (request as LoggedRequest).uid === undefined || name === undefined ? url : url?.replace(':name', name.toLowerCase())
}

/** Logs a completed request. */
export function logRequest(request: FastifyRequest, reply: FastifyReply): void {
  const { callerName, uid, failure, trace } = request as LoggedRequest
  request.log.info(
    {
      requestId: request.id,
      method: request.method,
      route: getRoute(request),
      path: getLoggedPath(request),
      uid,
      status: reply.statusCode,
      error: reply.statusCode >= 400 ? failure : undefined,
      milliseconds: Math.round(reply.elapsedTime * 100) / 100,
      bytes: Number(reply.getHeader('content-length') ?? 0),
      caller: callerName,
      ip: request.ip,
      ...trace,
    },
    'request',
  )
}

/** Logs a request that the client aborted before it was received completely. */
export function logAborted(request: FastifyRequest): void {
  request.log.info(
    {
      requestId: request.id,
      method: request.method,
      route: getRoute(request),
      aborted: true,
      caller: (request as LoggedRequest).callerName,
      ip: request.ip,
      ...(request as LoggedRequest).trace,
    },
    'the client aborted the request',
  )
}
