// Custom routes: validates the input, calls the project's code for a limited time, and converts its result.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import qs from 'qs'
import { projectActor } from '../../content/documents/code/actor.js'
import { toResponseError } from '../../content/documents/code/policies.js'
import { maxInputErrors } from '../../content/documents/input/errors.js'
import { ApiError, validationError } from '../../foundation/errors/errors.js'
import type { Grants } from '../../foundation/grants.js'
import type { CodeLog } from '../../foundation/public/content-service.js'
import type { CustomRoute, RouteBody, RouteCall, SchemaIssue, StandardSchema } from '../../foundation/public/routes.js'
import { codeLog, named, type RunningCode, runCode } from '../../foundation/runtime/project-code.js'
import type { ContentServices } from '../../project/code/content-service.js'
import type { MountContext } from '../backend.js'
import { hasBody, readBytes, streamBody } from '../body.js'
import { onceClosed } from '../connections.js'
import { type Admission, handleRequest } from '../handle-request.js'
import type { ByteSource, Reply, RequestContext } from '../request-context.js'

interface RouteRunOptions {
  readonly services: ContentServices
  /** Resolves to the caller's grants within its scopes. */
  readonly grants: () => Promise<Grants>
  readonly log: FastifyBaseLogger
  readonly response: ServerResponse
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal
}

const getRouteName = ({ method, path }: CustomRoute): string => `the route ${method} ${path}`

/** Runs a route for a request whose caller may call it. @throws ApiError as the response; Error for a fault of its code */
async function runRoute(route: CustomRoute, context: RequestContext, options: RouteRunOptions): Promise<Reply> {
  const { limits } = context.config
  const code: RunningCode = { name: getRouteName(route), requestId: context.asker.requestId }
  const own = async <Result>(work: (signal: AbortSignal) => Result | Promise<Result>): Promise<Result> => {
    try {
      return await runCode(code, limits.routeTimeout, work)
    } catch (error) {
      throw toResponseError(code.name, error)
    }
  }
  const check = (schema: StandardSchema | undefined, value: unknown, source: InputSource): Promise<unknown> =>
    schema === undefined ? Promise.resolve(value) : own(() => validate(schema, value, source))
  const params = await check(route.params, { ...context.params }, 'params')
  const query = await check(route.query, parseQuery(context.query), 'query')
  // The time for a body to arrive is not the route's.
  const given = await readRouteBody(route.body, context)
  const body = typeof route.body === 'string' ? given : await check(route.body, given, 'body')
  const input = { params, query, body } as Pick<RouteCall, 'params' | 'query' | 'body'>
  const lasting = watchClient(options.response)
  const result = await own(async (timeout) => {
    timeout.addEventListener('abort', () => lasting.abort(timeout.reason))
    const returned = await route.handle({ ...createCall(context, options, code), ...input, signal: lasting.signal })
    // The response was sent already.
    if (timeout.aborted) discardResult(returned)
    return returned
  })
  const reply = toReply(code.name, result, limits.responseBytes)
  return reply.source === undefined ? reply : { ...reply, source: inCode(code, reply.source) }
}

/** The context of a call, apart from its input. */
function createCall(context: RequestContext, { services, grants, log, stopping }: RouteRunOptions, code: RunningCode) {
  const { asker, caller, request, address } = context
  return {
    ...services({ caller: asker.caller, grants, requestId: asker.requestId, depth: 0 }),
    unrestricted: services(projectActor(0, asker.requestId)),
    caller: asker.caller,
    may: (action: string) => caller.grants.may(action),
    request: { id: code.requestId!, method: request.method!, url: request.url!, headers: request.headers, ip: address },
    log: codeLog(log, code.name) satisfies CodeLog,
    stopping,
  }
}

/** A signal that is aborted when the client closes the connection before it has the response. */
function watchClient(response: ServerResponse): AbortController {
  const lasting = new AbortController()
  const leave = (): void => {
    if (!response.writableFinished) lasting.abort(new ApiError('ClientClosedRequestError', 'The client closed the connection'))
  }
  onceClosed(response, leave)
  return lasting
}

/** A stream whose code runs under the name of its route. */
const inCode = (code: RunningCode, source: ByteSource): ByteSource => ({
  next: () => named(code, source.next),
  cancel: () => named(code, source.cancel),
})

/** Registers the custom routes of one base, whose paths are below `prefix`. */
export function addCustomRoutes(app: FastifyInstance, base: 'api' | 'root', prefix: string, parts: MountContext): void {
  for (const route of parts.config.routes) if ((route.base ?? 'api') === base) addRoute(app, route, prefix + route.path, parts)
}

function addRoute(app: FastifyInstance, route: CustomRoute, url: string, parts: MountContext): void {
  const { services, scopes } = parts.backend
  const { stopping } = parts.connections
  const admission: Admission = { action: route.action ?? null, identifies: route.auth !== false, scopes: 'later' }

  /** The caller's grants within its scopes, which are evaluated once, and only if the route reads or writes content for the caller. */
  function scopedGrants({ asker, caller }: RequestContext): () => Promise<Grants> {
    let scoped: Promise<Grants> | null = null
    return () => {
      scoped ??= scopes === null ? Promise.resolve(caller.grants) : scopes.apply(asker, caller.grants)
      return scoped
    }
  }

  app.route({
    method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
    url,
    config: { isCustom: true },
    handler: (request, reply) =>
      handleRequest(parts, request, reply, admission, (context) =>
        runRoute(route, context, {
          services,
          grants: scopedGrants(context),
          log: request.log.child({ requestId: request.id }),
          response: reply.raw,
          stopping,
        }),
      ),
  })
}

/** Bounds of a query string, as for content. */
const queryBounds = { depth: 20, arrayLimit: 100, parameterLimit: 1000 }

/** Parses a query string into objects and lists of texts. Keys that an object has anyway, such as `constructor`, are dropped. */
const parseQuery = (query: string): Readonly<Record<string, unknown>> => (query === '' ? {} : qs.parse(query, queryBounds))

/** Reads the body in the form that the route declares. @throws ApiError 400, 408, 413, 499, 503 */
async function readRouteBody(kind: RouteBody, { request, beginBody, body, config }: RequestContext): Promise<unknown> {
  switch (kind) {
    case undefined:
      return undefined
    case 'raw':
      return readBytes(request, beginBody(), config.limits)
    case 'stream':
      return streamBody(request, config.limits.uploadBytes)
    default: {
      const parsed = await body()
      if (parsed === undefined && hasBody(request)) throw unreadable(request)
      return parsed
    }
  }
}

function unreadable({ headers }: IncomingMessage): ApiError {
  const type = headers['content-type']
  const is = type === undefined ? 'is missing' : `is "${type}"`
  return validationError(`The body was not read: its Content-Type ${is}; application/json is needed`)
}

type InputSource = 'params' | 'query' | 'body'

/** Returns a value as parsed by the schema. @throws ApiError 400 with its issues as `details.errors` */
async function validate(schema: StandardSchema, value: unknown, source: InputSource): Promise<unknown> {
  const result = await schema['~standard'].validate(value)
  if (result.issues === undefined) return result.value
  throw invalid(result.issues, source)
}

function invalid(issues: readonly SchemaIssue[], source: InputSource): ApiError {
  const errors = issues.slice(0, maxInputErrors).map(({ message, path = [] }) => ({
    path: path.map((part) => String(typeof part === 'object' ? part.key : part)),
    message: String(message),
    name: 'ValidationError',
  }))
  const message = errors.length === 1 ? errors[0]!.message : `${issues.length} errors occurred`
  return validationError(message, { errors, source })
}

const octets = 'application/octet-stream'

/** Headers of a connection, and those that the service sets itself. */
const connectionHeaders = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'te', 'trailer', 'proxy-connection', 'x-request-id']
/** Headers about a content that `fetch` has decoded. */
const decodedHeaders = ['content-encoding', 'content-length']

/** Statuses whose responses have no body. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304])

/** Converts the result of a route: JSON, a `Response`, a stream, bytes, or nothing. @throws Error that names the route */
function toReply(name: string, result: unknown, responseBytes: number): Reply {
  if (result === undefined) return { status: 204 }
  if (result instanceof Response) return responseReply(name, result)
  if (result instanceof Uint8Array) return bytesReply(result, { 'content-type': octets })
  if (isAsyncIterable(result)) return { status: 200, headers: { 'content-type': octets }, source: toSource(result) }
  const text = toJson(name, result)
  if (Buffer.byteLength(text) > responseBytes) throw new Error(`${name} returned more than limits.responseBytes`)
  return bytesReply(Buffer.from(text), {})
}

/** Ends the stream of a result that is not sent: it was late, or the method is HEAD. */
function discardResult(result: unknown): void {
  const source =
    result instanceof Response
      ? result.body === null || result.bodyUsed
        ? null
        : toSource(result.body)
      : isAsyncIterable(result)
        ? toSource(result)
        : null
  source?.cancel()
}

const bytesReply = (bytes: Uint8Array, headers: Readonly<Record<string, string>>): Reply => ({
  status: 200,
  headers,
  bytes: { bytes, release: () => {} },
})

function responseReply(name: string, response: Response): Reply {
  const { status, body, url } = response
  if (status < 200) throw new Error(`${name} returned a Response with the status ${status}`)
  if (response.bodyUsed) throw new Error(`${name} returned a Response whose body was already read`)
  // A response that came from `fetch` is decoded already.
  const left = new Set(url === '' ? connectionHeaders : [...connectionHeaders, ...decodedHeaders])
  const headers: Record<string, string | string[]> = {}
  for (const [key, value] of response.headers) if (!left.has(key) && key !== 'set-cookie') headers[key] = value
  const cookies = response.headers.getSetCookie()
  if (cookies.length > 0) headers['set-cookie'] = cookies
  if (body === null || bodiless.has(status)) {
    discardResult(response)
    return { status, headers }
  }
  return { status, headers, source: toSource(body) }
}

function toJson(name: string, value: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value, (_key, inner) => (typeof inner === 'bigint' ? String(inner) : (inner as unknown)))
  } catch (error) {
    throw new Error(`${name} returned a value that cannot be sent as JSON`, { cause: error })
  }
  if (text === undefined) throw new Error(`${name} returned a value that cannot be sent as JSON: a ${typeof value}`)
  return text
}

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && typeof (value as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === 'function'

function toSource(stream: AsyncIterable<unknown>): ByteSource {
  if (stream instanceof ReadableStream) {
    const reader = stream.getReader()
    return createSource(
      () => reader.read(),
      () => reader.cancel(),
    )
  }
  const iterator = stream[Symbol.asyncIterator]()
  const { destroy } = stream as { destroy?: unknown }
  // A stream of Node's ends at once; a generator that waits for something ends when it goes on.
  return createSource(
    () => iterator.next(),
    typeof destroy === 'function' ? () => destroy.call(stream) as unknown : () => iterator.return?.(),
  )
}

/** A failure of what ends a stream has no consequences, and is not waited for. */
const createSource = (read: () => Promise<{ readonly done?: boolean; readonly value?: unknown }>, end: () => unknown): ByteSource => ({
  next: async () => {
    const { done, value } = await read()
    return done === true ? null : toBytes(value)
  },
  cancel: () => {
    Promise.resolve()
      .then(end)
      .catch(() => {})
  },
})

function toBytes(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk
  if (typeof chunk === 'string') return Buffer.from(chunk)
  throw new TypeError(`a stream yielded a value of the type ${typeof chunk}, which is neither a text nor bytes`)
}
