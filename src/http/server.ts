// Requests come in, routes answer, everything is logged once. Knows no SQL and no rule about content.
import type { AddressInfo, Socket } from 'node:net'
import { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, fastify, LogController } from 'fastify'
import type { Config } from '../config/config.js'
import { openFailureLog } from '../runtime/repeated-failures.js'
import { authenticationRoutes } from './api/authentication.js'
import { contentTypeBuilderRoutes } from './api/content-type-builder.js'
import { fileRoutes } from './api/files.js'
import { localeRoutes } from './api/locales.js'
import { oauthRoutes } from './api/oauth.js'
import { usersAndRolesRoutes } from './api/users-and-roles.js'
import { type Connections, sayLast, watchConnections } from './connections.js'
import { drainRequest } from './drain-request.js'
import {
  addCors,
  answerPreflight,
  checkUrl,
  isPassing,
  isPreflight,
  policy,
  refuseHeaders,
  requestId,
  safetyHeaders,
} from './headers-and-cors.js'
import { openIncomingBodies } from './incoming-bodies.js'
import type { Route } from './request-context.js'
import { logAborted, logRequest } from './request-log.js'
import { respondError } from './respond.js'
import { addRoutes, type Backend, favicon, health } from './router.js'
import { addStaticFiles } from './static-files.js'
import { watchUnsent } from './unsent-responses.js'

export interface HttpServer {
  /** Starts to listen and returns the address. */
  listen(): Promise<string>
  /** Serves on for so many milliseconds while `/_health` is 503, stops accepting, lets requests in flight end in time, closes. */
  close(delay: number): Promise<void>
}

/** Every route beside those of content-types, which the model decides about. */
export const routes: readonly Route[] = [
  ...usersAndRolesRoutes,
  ...authenticationRoutes,
  ...oauthRoutes,
  ...fileRoutes,
  ...localeRoutes,
  ...contentTypeBuilderRoutes,
]
const withoutSchemas = () => () => {
  throw new Error('A route has a JSON schema')
}

export async function createServer(config: Config, backend: Backend, logger: FastifyBaseLogger): Promise<HttpServer> {
  const { limits } = config
  const app = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestId,
    bodyLimit: limits.bodyBytes,
    trustProxy: (_address: string, hop: number) => hop < config.trustProxy,
    connectionTimeout: limits.idleTimeout,
    // The longest that any request may take to come in; bodies that are not files have less time.
    requestTimeout: Math.max(limits.requestTimeout, limits.uploadTimeout),
    keepAliveTimeout: limits.keepAliveTimeout,
    forceCloseConnections: false,
    http: {
      headersTimeout: limits.headersTimeout,
      maxHeaderSize: limits.headerBytes,
      connectionsCheckingInterval: Math.min(1_000, limits.headersTimeout),
    },
    clientErrorHandler: refuseMalformed,
    // No route has a JSON schema: fastify's compilers for them would only be megabytes in memory.
    schemaController: { compilersFactory: { buildValidator: withoutSchemas, buildSerializer: withoutSchemas } },
    frameworkErrors: (error, _request, reply) => respondError(reply as FastifyReply, error),
    routerOptions: {
      caseSensitive: false,
      ignoreTrailingSlash: true,
      maxParamLength: 500,
      // The raw text goes to the query parser, which is ours.
      querystringParser: () => ({}),
    },
  })
  app.server.maxConnections = limits.connections
  // One more than may be: beyond this number Node leaves headers out without a word.
  app.server.maxHeadersCount = limits.headerCount + 1
  app.decorate('causes', openFailureLog(logger))
  const connections = watchConnections(app.server, limits)
  prepare(app, config, connections)
  addStaticFiles(app, config.uploadsFolder, backend.checkAddress)
  addRoutes(app, routes, { config, backend, connections, coming: openIncomingBodies(limits.unreadBytes), unsent: watchUnsent(limits) })
  return {
    listen: async () => {
      await app.listen({ host: config.host, port: config.port })
      const { address, port } = app.server.address() as AddressInfo
      return `http://${address === '0.0.0.0' || address === '::' ? 'localhost' : address.includes(':') ? `[${address}]` : address}:${port}`
    },
    close: async (delay) => {
      const cut = await connections.drain(delay)
      if (cut > 0) logger.warn({ connections: cut }, 'connections were cut: their clients did not send or take what they should in time')
      await app.close()
    },
  }
}

/** What is no HTTP, or too much of it, is answered on the socket and the connection ends. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  const status =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? '431 Request Header Fields Too Large'
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? '408 Request Timeout'
        : '400 Bad Request'
  if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`, () => socket.destroy())
  // Whoever does not take that answer is not waited for either.
  setTimeout(() => socket.destroy(), socket.writable ? goodbye : 0).unref()
}

/** Milliseconds for a refusal to leave. */
const goodbye = 1_000

function prepare(app: FastifyInstance, config: Config, connections: Connections): void {
  app.removeAllContentTypeParsers()
  // Bodies are read by the routes that want one, after the caller has been found to be allowed.
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.setErrorHandler((error, _request, reply) => respondError(reply, error))
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(safetyHeaders)
    // Files have policies of their own.
    if (!request.raw.url?.startsWith('/uploads/')) reply.header('content-security-policy', policy)
    reply.header('x-request-id', request.id)
    addCors(config.corsOrigins, request, reply)
    if (request.raw.rawHeaders.length > 2 * config.limits.headerCount) return refuseHeaders(reply)
    checkUrl(request.raw.url ?? '')
    if (isPreflight(request)) return answerPreflight(reply, config.corsHeaders)
    return undefined
  })
  const secret = [`${config.rest.prefix}/auth/`, `${config.rest.prefix}/connect/`]
  app.addHook('onSend', (request, reply, payload, done) => {
    const route = request.routeOptions.url ?? ''
    if (isPassing(reply.statusCode) || secret.some((start) => route.startsWith(start))) reply.header('cache-control', 'no-store')
    if (!connections.isDraining()) return done(null, payload)
    sayLast(connections, request, reply).then(() => done(null, payload))
  })
  app.addHook('onRequestAbort', async (request) => logAborted(request))
  app.addHook('onResponse', async (request, reply) => {
    drainRequest(request.raw)
    if (![health, favicon].includes(request.routeOptions.url ?? '')) logRequest(request, reply)
  })
}
