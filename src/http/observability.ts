// Reports requests to metrics, traces and the audit log. No label or attribute is a part of a URL, a header or a body.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Audit } from '../foundation/runtime/audit-log.js'
import type { Metrics, RejectionReason } from '../foundation/runtime/metrics.js'
import type { Tracing } from '../foundation/runtime/tracing.js'
import { onceClosed } from './connections.js'
import type { Reply, RequestContext, Route } from './request-context.js'
import { getLoggedPath, type LoggedRequest } from './request-context.js'

/** Measures all requests of a server. `unmeasured`: routes to leave out, because probes would distort the figures of clients. */
export function measureRequests(app: FastifyInstance, metrics: Metrics, unmeasured: ReadonlySet<string>): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (unmeasured.has(request.routeOptions.url ?? '')) return done()
    const started = performance.now()
    const received = countReceivedBytes(request.raw)
    metrics.requestBegan()
    onceClosed(reply.raw, () => {
      const status = getFinalStatus(reply)
      metrics.requestEnded({
        method: getMethodLabel(request),
        route: getRouteLabel(request),
        status,
        seconds: isEventStream(reply) ? null : (performance.now() - started) / 1000,
        requestBytes: received(),
        responseBytes: reply.raw.writableFinished && request.method !== 'HEAD' ? parseBytes(getHeader(reply, 'content-length')) : null,
        error: status < 500 ? null : ((request as LoggedRequest).failure?.name ?? String(status)),
        rejection: toRejection(status, request),
      })
    })
    done()
  })
}

/** Counts requests that the HTTP parser refuses. A connection that sent nothing does not count. */
export function measureRefused({ code }: NodeJS.ErrnoException, { bytesRead, writable }: Socket, metrics: Metrics): void {
  // All data after the refusal is an error again.
  if (!writable) return
  if (code === 'HPE_HEADER_OVERFLOW') metrics.requestRefused('too_large')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT' && bytesRead > 0) metrics.requestRefused('timeout')
}

const getHeader = (reply: FastifyReply, name: string) => reply.raw.getHeader(name) ?? reply.getHeader(name)

/** True for a stream that lasts as long as its client listens: its duration is not the service's. */
const isEventStream = (reply: FastifyReply): boolean =>
  reply.request.method !== 'HEAD' && String(getHeader(reply, 'content-type')).startsWith('text/event-stream')

/** Counts the bytes of a body that actually arrive. Returns a function for the number; null: there is no body. */
function countReceivedBytes(request: IncomingMessage): () => number | null {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  if (length === undefined && encoding === undefined) return () => null
  let bytes = 0
  const push = request.push.bind(request)
  request.push = (chunk: Buffer | null, ...rest) => {
    bytes += chunk?.length ?? 0
    return push(chunk, ...rest)
  }
  return () => bytes
}

function parseBytes(header: number | string | readonly string[] | undefined): number | null {
  const bytes = header === undefined ? Number.NaN : Number(header)
  return Number.isSafeInteger(bytes) && bytes >= 0 ? bytes : null
}

/** The reason for refusing a request without doing its work. */
function toRejection(status: number, request: FastifyRequest): RejectionReason | null {
  const { message = '' } = (request as LoggedRequest).failure ?? {}
  if (status === 429) return 'rate_limit'
  if (status === 413 || status === 414 || status === 431) return 'too_large'
  if (status === 408) return 'timeout'
  if (status === 400) return message.includes('too complex') ? 'too_complex' : null
  if (status !== 503) return null
  if (message.startsWith('Too many requests are waiting for the database')) return 'pool_timeout'
  if (message.startsWith('Too many')) return 'overload'
  return /\btook (?:too long|longer)\b/.test(message) ? 'timeout' : 'unavailable'
}

/** Traces all requests of a server. `untraced`: routes to leave out. */
export function traceRequests(app: FastifyInstance, tracing: Tracing, untraced: ReadonlySet<string>): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (untraced.has(request.routeOptions.url ?? '')) return done()
    const method = getMethodLabel(request)
    const traced = tracing.request(request.headers, method, {
      'http.request.method': method,
      // A proxy may have sent any text.
      'url.scheme': request.protocol === 'https' ? 'https' : 'http',
      'network.protocol.version': request.raw.httpVersion,
    })
    if (traced.ids !== null) (request as LoggedRequest).trace = traced.ids
    onceClosed(reply.raw, () => {
      const status = getFinalStatus(reply)
      const route = getRouteLabel(request)
      const attributes = { 'http.route': route, 'http.response.status_code': status }
      const { uid } = request as LoggedRequest
      const isFailed = status >= 500
      traced.end(
        `${method} ${route}`,
        { ...attributes, ...(uid !== undefined && { 'octavo.type': uid }), ...(isFailed && { 'error.type': String(status) }) },
        isFailed,
      )
    })
    traced.within(done)
  })
}

/** Adds request ids and addresses to the entries of the audit log. */
export function auditRequests(app: FastifyInstance, audit: Audit): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.once(
      'close',
      audit.within({ requestId: request.id, address: request.ip }, () => done()),
    )
  })
}

/** Sign-in routes may be GET. */
const isAudited = ({ method, action }: Route): boolean => method !== 'GET' || action.startsWith('plugin::users-permissions.auth.')

/** The handler of a route, with an audit entry for its action if it succeeds. */
export function withAudit(audit: Audit | null, route: Route): Route['handle'] {
  if (audit === null || !isAudited(route)) return route.handle
  return async (context) => {
    const reply = await route.handle(context)
    if (reply.status >= 300) return reply
    const actor = getActor(context, reply)
    for (const id of reply.changed?.map(String) ?? [context.params.id]) audit.note({ actor, action: route.action, id })
    return reply
  }
}

/** The caller; after a sign-in, the user. */
function getActor({ asker: { caller } }: RequestContext, { value }: Reply) {
  const { user } = (value ?? {}) as { readonly user?: { readonly id?: unknown } }
  return caller.kind === 'public' && typeof user?.id === 'number' ? { kind: 'user', id: user.id } : caller
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** The method of a request, or `_OTHER`. */
const getMethodLabel = ({ method }: FastifyRequest): string => (methods.has(method) ? method : '_OTHER')

/** The template of the route of a request with its type. */
const getRouteLabel = (request: FastifyRequest): string => getLoggedPath(request) ?? '(none)'

/** The status of a request whose connection was closed before the response was sent. */
const closedByClient = 499

const getFinalStatus = ({ raw }: FastifyReply): number => (raw.writableFinished ? raw.statusCode : closedByClient)
