// The HTTP server: receives requests, checks them, calls routes, and logs each request once. Contains no SQL and no rule about content.
import type { AddressInfo, Socket } from 'node:net'
import { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify, LogController } from 'fastify'
import type { Config } from '../foundation/config/config.js'
import { maxMs, timePerCpuTime } from '../foundation/config/limits.js'
import { ApiError, notFound } from '../foundation/errors/errors.js'
import { onceDone } from '../foundation/runtime/coalesce.js'
import type { Metrics } from '../foundation/runtime/metrics.js'
import { openFailureLog } from '../foundation/runtime/throttled-logs.js'
import type { HandleAdministration } from './admin/handle.js'
import type { Backend, MountContext } from './backend.js'
import { createCompression } from './compression.js'
import { addConnectionClose, drainRequest, slowRequestDiscardMs, watchConnections } from './connections.js'
import {
  answerPreflight,
  createHeaders,
  getFilePolicy,
  isPreflight,
  isSecret,
  isUncacheable,
  refuseHeaders,
  requestId,
} from './headers-and-cors.js'
import { createBodyBudget, createResponseBudget } from './memory-budgets.js'
import { auditRequests, measureRefused, measureRequests, traceRequests } from './observability.js'
import { createStreams } from './open-streams.js'
import { adminPageMount } from './pages/admin-page.js'
import { docsMount, hasDocsPage } from './pages/docs-page.js'
import { decorateRequests, logAborted, logRequest } from './request-context.js'
import { allowedMethods, methodNotAllowed, respondError } from './respond.js'
import { apiMount } from './rest/api.js'
import { contentTypeBuilderMount } from './rest/content-type-builder.js'
import { checkStreamPath } from './rest/event-stream.js'
import { everyMethod, findMount, type Mount, readMethods } from './rest/mount.js'
import { rootMount } from './rest/root.js'
import { routes } from './rest/routes.js'
import { sandboxPolicy, uploadsMount, viewerPolicy } from './rest/uploads.js'

export interface HttpServer {
  listen(): Promise<string>
  state(): 'starting' | 'serving' | 'draining'
  /** Another process listens on the same port: `close` stops listening first, and `/_health` stays as it is. */
  leaveToOthers(): void
  /** Keeps serving for `delay` milliseconds while `/_health` returns 503, then stops listening, waits for requests in flight, and closes. */
  close(delay: number): Promise<void>
}

type AddHeaders = ReturnType<typeof createHeaders>

const withoutSchemas = () => () => {
  throw new Error('A route has a JSON schema')
}

const maxHeaders = 200
/** The part of `limits.requestTimeout` for the headers. */
const headersShare = 1 / 3
/** Milliseconds without traffic, in addition to the longest time for the next request, or for the work on one. */
const idleMargin = 5_000
/** Milliseconds to receive a form with files, or longer at this many bytes per millisecond. */
const [minUploadTime, uploadSpeed] = [3_600_000, 600]
/** A file of the media library is read as a whole for compression: the limit allows this many of the largest. */
const maxCompressedFiles = 32
/** Time for which the rest of a body is discarded whose request was answered early, before the connection is closed. */
const maxDiscardMs = 10_000

function idleTimeoutOf(limits: Config['limits']): number {
  const { keepAliveTimeout, readTimeout, writeTimeout, routeTimeout, hookTimeout, storageTimeout, imageCpuTime } = limits
  const works = [readTimeout, writeTimeout, routeTimeout, hookTimeout, storageTimeout, imageCpuTime * timePerCpuTime]
  return Math.min(maxMs, idleMargin + Math.max(keepAliveTimeout, ...works))
}

function createApp(config: Config, metrics: Metrics | null, logger: FastifyBaseLogger, addHeaders: AddHeaders): FastifyInstance {
  const { limits } = config
  const headersTimeout = Math.ceil(limits.requestTimeout * headersShare)
  const app = fastify({
    loggerInstance: logger,
    // Lines that belong to a request name it: a logger for each would cost every request.
    childLoggerFactory: () => logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestId,
    bodyLimit: limits.bodyBytes,
    trustProxy: (_address: string, hop: number) => hop < config.trustProxy,
    connectionTimeout: idleTimeoutOf(limits),
    // The longest time to receive any request; bodies without files have a shorter limit.
    requestTimeout: Math.max(limits.requestTimeout, minUploadTime, Math.min(maxMs, Math.ceil(limits.uploadBytes / uploadSpeed))),
    keepAliveTimeout: limits.keepAliveTimeout,
    forceCloseConnections: false,
    http: {
      headersTimeout,
      maxHeaderSize: limits.headerBytes,
      connectionsCheckingInterval: Math.min(1_000, headersTimeout),
    },
    clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) => {
      if (metrics !== null) measureRefused(error, socket, metrics)
      refuseMalformed(error, socket)
    },
    // No route has a JSON schema, so Fastify's schema compilers would only waste megabytes of memory.
    schemaController: { compilersFactory: { buildValidator: withoutSchemas, buildSerializer: withoutSchemas } },
    // A URL that cannot be decoded comes before hooks.
    frameworkErrors: (error, request, reply) => {
      addHeaders(request as FastifyRequest, reply as FastifyReply)
      return respondError(reply as FastifyReply, error)
    },
    routerOptions: {
      caseSensitive: false,
      ignoreTrailingSlash: true,
      maxParamLength: 500,
      // The query string is parsed by our own code.
      querystringParser: () => ({}),
    },
  })
  app.server.maxConnections = limits.connections
  // One more than allowed, because Node silently drops headers beyond this number.
  app.server.maxHeadersCount = maxHeaders + 1
  app.decorate('causes', openFailureLog(logger))
  decorateRequests(app as FastifyInstance)
  return app as FastifyInstance
}

/** Creates the server; it does not listen yet. */
export async function createServer(config: Config, backend: Backend, logger: FastifyBaseLogger): Promise<HttpServer> {
  const { limits } = config
  const addHeaders = createHeaders(config)
  const app = createApp(config, backend.metrics, logger, addHeaders)
  const connections = watchConnections(app.server, limits)
  const streams = createStreams(limits)
  checkStreamPath(
    config,
    backend,
    routes.map(({ path }) => path),
  )
  const compression = config.compression ? createCompression(limits) : null
  // The code of hints is loaded only where they are on.
  const hints = config.hints ? (await import('./hints/hints.js')).addHints(app, config, backend.installations.model, logger) : null
  const parts = {
    config,
    backend,
    connections,
    streams,
    compression,
    hints,
    bodies: createBodyBudget(limits.maxBufferedBodyBytes),
    unsent: createResponseBudget(limits),
  }
  const mounts = createMounts(parts)
  prepare(app, parts, mounts, addHeaders)
  for (const mount of mounts) mount.addTo(app)
  addEverythingElse(app, mounts)
  return {
    listen: async () => {
      await app.listen({ host: config.host, port: config.port })
      const { address, port } = app.server.address() as AddressInfo
      return `http://${address === '0.0.0.0' || address === '::' ? 'localhost' : address.includes(':') ? `[${address}]` : address}:${port}`
    },
    state: () => (connections.isDraining() ? 'draining' : app.server.listening ? 'serving' : 'starting'),
    leaveToOthers: connections.leaveToOthers,
    close: async (delay) => {
      // After the server stopped listening, their clients reconnect elsewhere.
      const closed = await connections.drain(delay, () => streams.close())
      streams.close()
      if (closed > 0) logger.warn({ connections: closed }, 'closed stalled connections: their clients did not send or receive data in time')
      await app.close()
    },
  }
}

const createMounts = (parts: MountContext): readonly Mount[] => {
  const { config, backend, compression, unsent } = parts
  const api = apiMount(routes, parts)
  const isAtRoot = config.rest.prefix === ''
  return [
    uploadsMount(config.uploadsFolder, {
      check: backend.checkAddress,
      compressedBytes: compression === null ? 0 : config.limits.compressionBytes / maxCompressedFiles,
      policies: { sandbox: getFilePolicy(config, sandboxPolicy), viewer: getFilePolicy(config, viewerPolicy) },
      unsent,
    }),
    ...(isAtRoot ? [] : [api]),
    ...(config.admin.enabled ? [administrationMount(parts), adminPageMount(config)] : []),
    ...(config.modelChanges && !isAtRoot ? [contentTypeBuilderMount(parts)] : []),
    ...(hasDocsPage(config) ? [docsMount(config)] : []),
    ...(isAtRoot ? [api] : []),
    rootMount(parts),
  ]
}

/** Responds to invalid or oversized HTTP directly on the socket and closes the connection. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  const status =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? '408 Request Timeout'
        : '400 Bad Request'
  if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`, () => socket.destroy())
  // Does not wait for a client that does not receive the response.
  setTimeout(() => socket.destroy(), socket.writable ? refusalTimeoutMs : 0).unref()
}

const refusalTimeoutMs = 1_000

function prepare(
  app: FastifyInstance,
  { config, backend, connections, compression }: MountContext,
  mounts: readonly Mount[],
  addHeaders: AddHeaders,
): void {
  app.removeAllContentTypeParsers()
  // Routes read bodies themselves, after the caller's permission was checked.
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  const unlogged = new Set(mounts.flatMap((mount) => mount.unlogged.map((path) => mount.prefix + path)))
  if (backend.audit !== null) auditRequests(app, backend.audit)
  if (backend.tracing !== null) traceRequests(app, backend.tracing, unlogged)
  if (backend.metrics !== null) measureRequests(app, backend.metrics, unlogged)
  app.setErrorHandler((error, _request, reply) => respondError(reply, error))
  // Hooks of every request call `done`: a promise costs a request more.
  app.addHook('onRequest', (request, reply, done) => {
    addHeaders(request, reply)
    if (request.raw.rawHeaders.length > 2 * maxHeaders) refuseHeaders(reply)
    // Other programs may read two slashes as a host.
    else if (request.raw.url?.startsWith('//')) done(new ApiError('BadRequestError', 'Malicious Path', null))
    else if (isPreflight(request)) answerPreflight(reply, config.corsHeaders)
    else done()
  })
  const secret = mounts.flatMap((mount) => mount.secret.map((start) => mount.prefix + start))
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, isSecret: secret.some((start) => route.url.startsWith(start)) }
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    if (isUncacheable(reply.statusCode) || isSecret(request)) reply.header('cache-control', 'no-store')
    if (!connections.isEnding()) return done(null, payload)
    addConnectionClose(connections, request, reply).then(() => done(null, payload))
  })
  if (compression !== null) app.addHook('onSend', (_request, reply, payload) => compression.payload(reply, payload))
  app.addHook('onRequestAbort', async (request) => logAborted(request))
  app.addHook('onResponse', (request, reply, done) => {
    if (!request.raw.complete) drainRequest(request.raw, reply.statusCode === 408 ? slowRequestDiscardMs : maxDiscardMs)
    if (!unlogged.has(request.routeOptions.url ?? '')) logRequest(request, reply)
    done()
  })
}

/** Handles all paths that no mount has a route for: 404 for GET, 405 for other methods. */
function addEverythingElse(app: FastifyInstance, mounts: readonly Mount[]): void {
  app.setNotFoundHandler((request, reply) => {
    if (request.method === 'GET' || request.method === 'HEAD') return respondError(reply, notFound())
    const [path = ''] = (request.raw.url ?? '').split('?')
    if (request.method === 'OPTIONS') return allowedMethods(reply, findMount(mounts, path).methodsAt(path))
    return methodNotAllowed(reply, findMount(mounts, path).methodsAt(path))
  })
}

const administrationPrefix = '/admin/api'

/** The administration API, whose code is loaded with its first request. */
function administrationMount(parts: MountContext): Mount {
  const open = onceDone(async (): Promise<HandleAdministration> => {
    const { createHandler } = await import('./admin/handle.js')
    return createHandler(parts, administrationPrefix)
  })
  return {
    prefix: administrationPrefix,
    secret: [],
    unlogged: [],
    addTo: (app) => {
      app.route({
        method: everyMethod,
        url: `${administrationPrefix}/*`,
        handler: async (request, reply) =>
          (await open())(request, reply, (request.raw.url ?? '').split('?', 1)[0]!.slice(administrationPrefix.length)),
      })
    },
    methodsAt: () => readMethods,
  }
}
