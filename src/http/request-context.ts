// The context of a request, its reply, its line in the log, and the definition of a route. Routes are rows of tables that server.ts registers.

import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DocumentReads, ReadBytes } from '../content/documents/read/find.js'
import type { ReadCaller } from '../content/documents/read/plans.js'
import type { DocumentWrites } from '../content/documents/write.js'
import type { Library } from '../content/media/library.js'
import type { AddSourceMaps } from '../content/source-maps.js'
import type { Config } from '../foundation/config/config.js'
import type { ApiError } from '../foundation/errors/errors.js'
import type { Metrics } from '../foundation/runtime/metrics.js'
import type { TraceIds } from '../foundation/runtime/tracing.js'
import type { AccountSettings } from '../identity/access/account-settings.js'
import type { AccessState, Caller } from '../identity/access/identify.js'
import { strangerAt } from '../identity/access/rate-limit.js'
import type { AccountContext } from '../identity/accounts/context.js'
import type { Model } from '../model/schema/types.js'
import type { Installation } from '../project/installation.js'
import type { ModelChanges } from '../project/model-changes/builder-request.js'
import type { IncomingBody } from './memory-budgets.js'

/** Everything that a route needs to handle a request. */
export interface RequestContext {
  readonly caller: Caller
  readonly access: AccessState
  /** The installation for the whole request; `documents`, `writes` and `accounts` belong to it. */
  readonly installation: Installation
  /** Releases the installation before a change of the model, which waits for all requests. It must not be used afterwards. */
  readonly leaveInstallation: () => void
  readonly documents: DocumentReads
  readonly writes: DocumentWrites
  readonly accounts: AccountContext
  readonly config: Config
  readonly modelChanges: ModelChanges
  /** The client's IP address; with trusted proxies, the one they send. */
  readonly address: string
  readonly library: Library
  /** True if every file in a response states whether its URL is signed. */
  readonly signsAddresses: boolean
  readonly params: Readonly<Record<string, string>>
  /** The raw query string without the question mark. */
  readonly query: string
  readonly format: 'flat' | 'nested'
  /** Adds source maps to a response; null if the client did not ask for them. */
  readonly markSources: AddSourceMaps | null
  /** Null: nothing is measured. */
  readonly metrics: Metrics | null
  /** The caller and the request, as code of the project gets them. */
  readonly asker: ReadCaller
  /** The request itself, for routes that read its headers, address or stream. */
  readonly request: IncomingMessage
  /** When the request arrived (`elapsed`). */
  readonly since: number
  /** True once the client has closed the connection. */
  isGone(): boolean
  /** Adds headers to the response, also where it is an error. */
  addHeaders(headers: Readonly<Record<string, string>>): void
  /** Starts to count the memory of an incomplete body. */
  beginBody(): IncomingBody
  /** Reads and parses the body; `undefined` if there is none. @throws ApiError 400, 408, 413, 499, 503 */
  body(): Promise<unknown>
}

export interface ByteSource {
  /** The next piece; null after the last one. Called once at a time. */
  next(): Promise<Uint8Array | null>
  /** Ends it: `next` is not called again. Never throws. */
  cancel(): void
}

/** A reply with bytes, which are JSON unless the headers say otherwise, a value to serialize as JSON, a stream, or no content. */
export interface Reply {
  readonly status: number
  readonly bytes?: ReadBytes
  readonly source?: ByteSource
  readonly value?: unknown
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** Ids of created or changed rows that are not in the path: each has a line in the audit log. */
  readonly changed?: readonly number[]
}

/** A refused request, possibly before its route was called. */
export interface RefusedRequest {
  readonly error: unknown
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly config: Config
  settings(): Promise<AccountSettings>
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The path below the prefix of the API; `:name` matches one segment. */
  readonly path: string
  /** The action that the caller must be granted. */
  readonly action: string
  /** It does not use content, so scopes are not applied, and documents of types with a scope do not exist for it. */
  readonly isContentless?: boolean
  /** True: a GET changes something. HEAD does not handle it. */
  readonly changes?: boolean
  /** Responds to a refusal in another form than JSON. @throws the error that stays as it is */
  readonly refuse?: (refused: RefusedRequest) => Promise<FastifyReply>
  readonly handle: (context: RequestContext) => Promise<Reply>
}

/** A reply with status 200 and JSON bytes. */
export const okBytes = (bytes: ReadBytes): Reply => ({ status: 200, bytes })
/** A reply with status 201 and JSON bytes. */
export const created = (bytes: ReadBytes): Reply => ({ status: 201, bytes })
/** A reply with status 200 and a value. */
export const ok = (value: unknown): Reply => ({ status: 200, value })
/** A reply with status 204. */
export const noContent: Reply = { status: 204 }

/** The caller of a request, without its grants. */
export function toAsker(caller: Caller, requestId: string): ReadCaller {
  const { kind } = caller
  return { caller: kind === 'public' ? { kind } : { kind, id: caller.id }, requestId }
}

/** The name of a caller in the log, such as `user 7`. */
export const getCallerName = ({ caller }: ReadCaller): string => (caller.kind === 'public' ? caller.kind : `${caller.kind} ${caller.id}`)

/** The name under which a caller waits for turns. Callers without credentials are distinguished by their addresses. */
export const getTurnName = ({ asker, address }: Pick<RequestContext, 'asker' | 'address'>): string =>
  asker.caller.kind === 'public' ? strangerAt(address) : getCallerName(asker)

/** The account operations of a request, whose passwords wait for the turns of its caller. */
export const withTurns = (context: Pick<RequestContext, 'accounts' | 'asker' | 'address'>): AccountContext => {
  const { accounts } = context
  return { ...accounts, passwords: accounts.passwords.of(getTurnName(context)) }
}

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
