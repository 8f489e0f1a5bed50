// Requests come in, routes answer, everything is logged once. Knows no SQL and no rule about content.
import type { AddressInfo, Socket } from 'node:net'
import { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify, LogController } from 'fastify'
import type { House } from '../auth/house.js'
import type { Identification } from '../auth/identify.js'
import type { Config } from '../config.js'
import type { Documents } from '../documents/find.js'
import type { MarkSources } from '../documents/source-marks.js'
import type { DocumentWrites } from '../documents/write.js'
import { forbidden, notFound } from '../errors.js'
import type { Model } from '../model/types.js'
import type { Library } from '../uploads/library.js'
import type { CheckAddress } from '../uploads/signing.js'
import { accountRoutes } from './account.js'
import { authenticationRoutes } from './authentication.js'
import { readBody } from './bodies.js'
import { builderRoutes } from './builder.js'
import { connectRoutes } from './connect.js'
import { contentMethods, handleAction, handleContent, isAction, typeAt } from './content.js'
import type { Exchange, Route } from './exchange.js'
import { fileRoutes } from './files.js'
import { addCors, answerPreflight, checkUrl, isPreflight, requestId, safetyHeaders } from './guard.js'
import { localeRoutes } from './locales.js'
import { allowedMethods, methodNotAllowed, respond, respondError } from './respond.js'
import { watchSockets } from './sockets.js'
import { startPage } from './start-page.js'
import { addStaticFiles } from './static-files.js'
import { discardRest } from './unread.js'

/** What the server needs of the service behind it. */
export interface Backend {
  readonly identification: Identification
  readonly library: Library
  /** Checks addresses of files; null: everyone may read them. */
  readonly checkAddress: CheckAddress | null
  /** Answers sign the addresses of files, and say so of each. */
  readonly signsAddresses: boolean
  readonly house: House
  /** Writes into answers where their texts come from. */
  readonly markSources: MarkSources
  /** The current model. */
  model(): Model
  /** The document service over the current model, for this default locale: its reads and its writes. */
  documents(defaultLocale: string): { readonly documents: Documents; readonly writes: DocumentWrites }
}

export interface HttpServer {
  /** Starts to listen and returns the address. */
  listen(): Promise<string>
  /** Stops accepting, lets requests in flight end, closes. */
  close(): Promise<void>
}

/** Every route beside those of content-types, which the model decides about. */
export const routes: readonly Route[] = [
  ...accountRoutes,
  ...authenticationRoutes,
  ...connectRoutes,
  ...fileRoutes,
  ...localeRoutes,
  ...builderRoutes,
]
const health = '/_health'
const withoutSchemas = () => () => {
  throw new Error('A route has a JSON schema')
}
const everyMethod = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

export async function createServer(config: Config, backend: Backend, logger: FastifyBaseLogger): Promise<HttpServer> {
  const { limits } = config
  const app = fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestId,
    bodyLimit: limits.bodyBytes,
    trustProxy: (_address: string, hop: number) => hop < config.proxies,
    connectionTimeout: limits.idleTimeout,
    // The longest that any request may take to come in; bodies that are not files have less time.
    requestTimeout: Math.max(limits.requestTimeout, limits.uploadTimeout),
    keepAliveTimeout: limits.keepAliveTimeout,
    forceCloseConnections: 'idle',
    http: {
      headersTimeout: limits.headersTimeout,
      maxHeaderSize: limits.headerBytes,
      connectionsCheckingInterval: Math.min(5_000, limits.headersTimeout),
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
  const endQuiet = watchSockets(app.server)
  prepare(app, config)
  addStaticFiles(app, config.uploadsFolder, backend.checkAddress)
  addPlainRoutes(app, config, backend)
  for (const path of new Set(routes.map((route) => route.path))) addPath(app, config, backend, path)
  addContent(app, config, backend)
  addEverythingElse(app, config, backend)
  return {
    listen: async () => {
      await app.listen({ host: config.host, port: config.port })
      const { address, port } = app.server.address() as AddressInfo
      return `http://${address === '0.0.0.0' || address === '::' ? 'localhost' : address.includes(':') ? `[${address}]` : address}:${port}`
    },
    close: () => {
      const closed = app.close()
      endQuiet()
      return closed
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
  if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
  else socket.destroy()
}

function prepare(app: FastifyInstance, config: Config): void {
  app.removeAllContentTypeParsers()
  // Bodies are read by the routes that want one, after the caller has been found to be allowed.
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.setErrorHandler((error, _request, reply) => respondError(reply, error))
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(safetyHeaders)
    reply.header('x-request-id', request.id)
    addCors(config.corsOrigins, request, reply)
    checkUrl(request.raw.url ?? '')
    if (isPreflight(request)) return answerPreflight(reply)
    return undefined
  })
  app.addHook('onResponse', async (request, reply) => {
    discardRest(request.raw)
    if (request.routeOptions.url === health) return
    request.log.info(
      {
        method: request.method,
        route: request.routeOptions.url,
        status: reply.statusCode,
        milliseconds: Math.round(reply.elapsedTime * 100) / 100,
        bytes: Number(reply.getHeader('content-length') ?? 0),
        caller: (request as Identified).callerName,
        ip: request.ip,
      },
      'request',
    )
  })
}

/** Who asked, for the log: kind and id, never a token. */
type Identified = FastifyRequest & { callerName?: string }

/** The query string as it came. */
function rawQuery(request: FastifyRequest): string {
  const url = request.raw.url ?? ''
  const mark = url.indexOf('?')
  return mark === -1 ? '' : url.slice(mark + 1)
}

async function exchangeOf(config: Config, backend: Backend, request: FastifyRequest): Promise<Exchange> {
  const { caller, access } = await backend.identification.identify(request.headers.authorization)
  const format = request.headers['strapi-response-format'] === 'v4' ? 'nested' : 'flat'
  ;(request as Identified).callerName = caller.kind === 'public' ? 'public' : `${caller.kind} ${caller.id}`
  return {
    caller,
    access,
    ...backend.documents(access.defaultLocale),
    house: backend.house,
    config,
    address: request.ip,
    library: backend.library,
    signsAddresses: backend.signsAddresses,
    params: request.params as Record<string, string>,
    query: rawQuery(request),
    format,
    // Nested answers have no marks, as in Strapi.
    markSources: request.headers['strapi-encode-source-maps'] === 'true' && format === 'flat' ? backend.markSources : null,
    request: request.raw,
    body: () => readBody(request.raw, config.limits),
  }
}

/** Times of a request's parts, for developers: not shown in production. */
function addTiming(config: Config, reply: FastifyReply, started: number, identified: number): void {
  if (config.production) return
  const ended = performance.now()
  reply.header('server-timing', `auth;dur=${(identified - started).toFixed(2)}, read;dur=${(ended - identified).toFixed(2)}`)
}

/** Registers the routes of one path; what it does not have is 405 before anyone is asked who they are. */
function addPath(app: FastifyInstance, config: Config, backend: Backend, path: string): void {
  const here = new Map(routes.filter((route) => route.path === path).map((route) => [route.method as string, route]))
  const methods = [...(here.has('GET') ? ['HEAD', 'GET'] : []), ...[...here.keys()].filter((method) => method !== 'GET')]
  app.route({
    method: everyMethod,
    url: config.rest.prefix + path,
    handler: async (request, reply) => {
      const route = here.get(request.method === 'HEAD' ? 'GET' : request.method)
      if (request.method === 'OPTIONS') return allowedMethods(reply, methods)
      if (route === undefined) return answerMissing(request, reply, here, methods)
      const started = performance.now()
      const exchange = await exchangeOf(config, backend, request)
      const identified = performance.now()
      if (!exchange.caller.grants.may(route.action)) throw forbidden()
      const answer = await route.handle(exchange)
      addTiming(config, reply, started, identified)
      return respond(reply, answer)
    },
  })
}

/** A GET finds no resource at a path that only takes other methods; those find the method missing. */
function answerMissing(
  request: FastifyRequest,
  reply: FastifyReply,
  here: ReadonlyMap<string, Route>,
  methods: readonly string[],
): FastifyReply {
  if (!here.has('GET') && (request.method === 'GET' || request.method === 'HEAD')) return respondError(reply, notFound())
  return methodNotAllowed(reply, methods)
}

function addContent(app: FastifyInstance, config: Config, backend: Backend): void {
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    const { name, documentId } = request.params as { name: string; documentId?: string }
    const type = typeAt(backend.model(), name, documentId !== undefined)
    const methods = contentMethods(type, documentId !== undefined)
    if (request.method === 'OPTIONS') return allowedMethods(reply, methods)
    if (!methods.includes(request.method)) return methodNotAllowed(reply, methods)
    if (type === null) throw notFound()
    const started = performance.now()
    const exchange = await exchangeOf(config, backend, request)
    const identified = performance.now()
    const answer = await handleContent(type, request.method, exchange)
    addTiming(config, reply, started, identified)
    return respond(reply, answer)
  }
  app.route({ method: everyMethod, url: `${config.rest.prefix}/:name`, handler })
  app.route({ method: everyMethod, url: `${config.rest.prefix}/:name/:documentId`, handler })
  for (const path of ['/:name/actions/:action', '/:name/:documentId/actions/:action']) {
    app.route({
      method: ['POST', 'OPTIONS'],
      url: config.rest.prefix + path,
      handler: (request, reply) => act(config, backend, request, reply),
    })
  }
}

async function act(config: Config, backend: Backend, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { name, documentId, action } = request.params as { name: string; documentId?: string; action: string }
  const type = typeAt(backend.model(), name, documentId !== undefined)
  if (type === null || type.singleType !== (documentId === undefined) || !isAction(action)) throw notFound()
  if (request.method === 'OPTIONS') return allowedMethods(reply, ['POST'])
  return respond(reply, await handleAction(type, action, await exchangeOf(config, backend, request)))
}

function addPlainRoutes(app: FastifyInstance, config: Config, backend: Backend): void {
  // Liveness from memory: no database, no log line of its own.
  app.route({ method: everyMethod, url: health, handler: (_request, reply) => reply.status(204).removeHeader('content-type').send() })
  app.get('/', async (_request, reply) => {
    const page = startPage(backend.model(), (await backend.identification.access()).public, config.rest.prefix)
    return reply.type('text/html; charset=utf-8').header('content-security-policy', page.policy).send(page.html)
  })
}

/** Every other path: a GET finds nothing, other methods are not there. */
function addEverythingElse(app: FastifyInstance, config: Config, backend: Backend): void {
  app.setNotFoundHandler((request, reply) => {
    if (request.method === 'OPTIONS') return allowedMethods(reply, ['HEAD', 'GET'])
    if (request.method !== 'GET' && request.method !== 'HEAD') return methodNotAllowed(reply, methodsAt(config, backend, request))
    return respondError(reply, notFound())
  })
}

/** What a content path has, for methods that the router does not know. */
function methodsAt({ rest }: Config, backend: Backend, request: FastifyRequest): readonly string[] {
  const [path = ''] = (request.raw.url ?? '').split('?')
  const parts = path.startsWith(`${rest.prefix}/`) ? path.slice(rest.prefix.length + 1).split('/') : []
  if (parts.length === 0 || parts.length > 2) return ['HEAD', 'GET']
  return contentMethods(typeAt(backend.model(), parts[0]!, parts.length === 2), parts.length === 2)
}
