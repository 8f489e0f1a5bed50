// Registers all routes and creates the context of each request. Every other path returns 404 or 405.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Identification, Identified } from '../access/identify.js'
import type { Config } from '../config/config.js'
import { ApiError, forbidden, notFound } from '../errors/errors.js'
import { holding, type Installation, type Installations } from '../installation.js'
import type { ContentType } from '../model/types.js'
import type { AddSourceMaps } from '../source-maps/source-maps.js'
import type { Library } from '../uploads/library.js'
import type { CheckAddress } from '../uploads/signing.js'
import { contentMethods, handleAction, handleContent, isAction, typeAt } from './api/content.js'
import { readBody } from './body-parser.js'
import { addConnectionClose, type Connections } from './connections.js'
import type { IncomingBodies } from './incoming-bodies.js'
import { startPage } from './pages/start-page.js'
import type { Reply, RequestContext, Route } from './request-context.js'
import type { LoggedRequest } from './request-log.js'
import { allowedMethods, methodNotAllowed, respond, respondError, smallResponse } from './respond.js'
import type { UnsentResponses } from './unsent-responses.js'

/** The parts of the service that the server uses. */
export interface Backend {
  readonly identification: Identification
  readonly library: Library
  /** Checks signed URLs of files; null if the files are public. */
  readonly checkAddress: CheckAddress | null
  /** True if responses sign the URLs of files, and state that for each file. */
  readonly signsAddresses: boolean
  /** Adds source maps to responses. */
  readonly markSources: AddSourceMaps
  /** Null while the service is healthy; otherwise a sentence about the problem. */
  health(): string | null
  readonly installations: Installations
}

/** The path of the health check, which is not logged. */
export const health = '/_health'
/** The icon that browsers request automatically. */
export const favicon = '/favicon.ico'

const everyMethod = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** The dependencies of all routes. */
export interface RouteContext {
  readonly config: Config
  readonly backend: Backend
  readonly connections: Connections
  readonly bodies: IncomingBodies
  readonly unsent: UnsentResponses
}

/** Registers these routes below the prefix of the API, the routes of content-types, and the other paths. */
export function addRoutes(app: FastifyInstance, routes: readonly Route[], parts: RouteContext): void {
  addPlainRoutes(app, parts)
  for (const path of new Set(routes.map((route) => route.path))) addPath(app, routes, path, parts)
  addContent(app, parts)
  addEverythingElse(app, parts)
}

/** Returns the raw query string. */
function rawQuery(request: FastifyRequest): string {
  const url = request.raw.url ?? ''
  const mark = url.indexOf('?')
  return mark === -1 ? '' : url.slice(mark + 1)
}

/** Handles a request with its caller and with one installation, which it holds until it has been handled. */
async function handle(
  parts: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (context: RequestContext) => Promise<Reply>,
): Promise<FastifyReply> {
  const { config, backend } = parts
  const started = performance.now()
  const identified = await backend.identification.identify(request.headers.authorization)
  return holding(backend.installations.enter(identified.access.defaultLocale), async (installation) => {
    const ready = performance.now()
    const result = await work(createContext(parts, request, identified, installation))
    addTiming(config, reply, started, ready)
    return send(parts, request, reply, result)
  })
}

function createContext(
  { config, backend, bodies }: RouteContext,
  request: FastifyRequest,
  { caller, access }: Identified,
  installation: Installation,
): RequestContext {
  const format = request.headers['strapi-response-format'] === 'v4' ? 'nested' : 'flat'
  ;(request as LoggedRequest).callerName = caller.kind === 'public' ? 'public' : `${caller.kind} ${caller.id}`
  const { documents, writes, accounts } = installation
  return {
    caller,
    access,
    installation,
    documents,
    writes,
    accounts,
    config,
    address: request.ip,
    library: backend.library,
    signsAddresses: backend.signsAddresses,
    params: request.params as Record<string, string>,
    query: rawQuery(request),
    format,
    // Responses in the nested format have no source maps, as in Strapi.
    markSources: request.headers['strapi-encode-source-maps'] === 'true' && format === 'flat' ? backend.markSources : null,
    request: request.raw,
    isGone: () => request.raw.socket.destroyed,
    beginBody: () => bodies.begin(request.ip),
    body: () => readBody(request.raw, request.ip, bodies, config.limits),
  }
}

/** Adds `Server-Timing`, except in production. */
function addTiming(config: Config, reply: FastifyReply, started: number, identified: number): void {
  if (config.production) return
  const ended = performance.now()
  reply.header('server-timing', `auth;dur=${(identified - started).toFixed(2)}, read;dur=${(ended - identified).toFixed(2)}`)
}

/** Registers the routes of one path. Other methods return 405 before the caller is identified. */
function addPath(app: FastifyInstance, routes: readonly Route[], path: string, parts: RouteContext): void {
  const { config } = parts
  const here = new Map(routes.filter((route) => route.path === path).map((route) => [route.method as string, route]))
  const methods = [...(here.has('GET') ? ['HEAD', 'GET'] : []), ...[...here.keys()].filter((method) => method !== 'GET')]
  app.route({
    method: everyMethod,
    url: config.rest.prefix + path,
    handler: async (request, reply) => {
      const route = here.get(request.method === 'HEAD' ? 'GET' : request.method)
      if (request.method === 'OPTIONS') return allowedMethods(reply, methods)
      if (route === undefined) return refuseMethod(request, reply, here, methods)
      return handle(parts, request, reply, async (context) => {
        if (!context.caller.grants.may(route.action)) throw forbidden()
        return route.handle(context)
      })
    },
  })
}

async function send(
  { connections, unsent }: RouteContext,
  request: FastifyRequest,
  reply: FastifyReply,
  result: Reply,
): Promise<FastifyReply> {
  // Responses as bytes bypass the hooks of the HTTP library.
  if (connections.isDraining()) await addConnectionClose(connections, request, reply)
  if (result.bytes !== undefined && result.bytes.bytes.length > smallResponse)
    unsent.watch(reply.raw, request.ip, result.bytes.bytes.length)
  return respond(reply, result)
}

/** Returns 404 to a GET of a path that only has other methods, and 405 to other missing methods. */
function refuseMethod(
  request: FastifyRequest,
  reply: FastifyReply,
  here: ReadonlyMap<string, Route>,
  methods: readonly string[],
): FastifyReply {
  if (!here.has('GET') && (request.method === 'GET' || request.method === 'HEAD')) return respondError(reply, notFound())
  return methodNotAllowed(reply, methods)
}

function addContent(app: FastifyInstance, parts: RouteContext): void {
  const { config, backend } = parts
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    const { name, documentId } = request.params as { name: string; documentId?: string }
    const type = typeAt(backend.installations.model(), name, documentId !== undefined)
    const methods = contentMethods(type, documentId !== undefined)
    if (request.method === 'OPTIONS') return allowedMethods(reply, methods)
    if (!methods.includes(request.method)) return methodNotAllowed(reply, methods)
    if (type === null) throw notFound()
    ;(request as LoggedRequest).uid = type.uid
    return handle(parts, request, reply, (context) => handleContent(typeOf(context, name, documentId), request.method, context))
  }
  app.route({ method: everyMethod, url: `${config.rest.prefix}/:name`, handler })
  app.route({ method: everyMethod, url: `${config.rest.prefix}/:name/:documentId`, handler })
  for (const path of ['/:name/actions/:action', '/:name/:documentId/actions/:action']) {
    app.route({
      method: ['POST', 'OPTIONS'],
      url: config.rest.prefix + path,
      handler: (request, reply) => act(parts, request, reply),
    })
  }
}

/** The type of a request in its installation. @throws ApiError 404 if it has gone since the path was matched */
function typeOf({ installation }: RequestContext, name: string, documentId: string | undefined): ContentType {
  const type = typeAt(installation.model, name, documentId !== undefined)
  if (type === null) throw notFound()
  return type
}

async function act(parts: RouteContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { name, documentId, action } = request.params as { name: string; documentId?: string; action: string }
  const type = typeAt(parts.backend.installations.model(), name, documentId !== undefined)
  if (type === null || type.singleType !== (documentId === undefined) || !isAction(action)) throw notFound()
  if (request.method === 'OPTIONS') return allowedMethods(reply, ['POST'])
  ;(request as LoggedRequest).uid = type.uid
  return handle(parts, request, reply, (context) => handleAction(typeOf(context, name, documentId), action, context))
}

function addPlainRoutes(app: FastifyInstance, { config, backend, connections }: RouteContext): void {
  app.route({
    method: everyMethod,
    url: health,
    handler: (_request, reply) => {
      if (connections.isDraining()) throw new ApiError('ServiceUnavailableError', 'The service is stopping')
      const trouble = backend.health()
      if (trouble !== null) throw new ApiError('ServiceUnavailableError', trouble)
      return reply.status(204).removeHeader('content-type').send()
    },
  })
  // Browsers request the icon automatically, so it is not logged.
  app.get(favicon, async (_request, reply) =>
    reply.status(204).removeHeader('content-type').header('cache-control', 'max-age=86400').send(),
  )
  app.get('/', async (_request, reply) => {
    const visitor = (await backend.identification.access()).public
    const page = startPage(backend.installations.model(), visitor, config.rest.prefix, !config.production)
    return reply.type('text/html; charset=utf-8').header('content-security-policy', page.policy).send(page.html)
  })
}

/** Handles all other paths: 404 for GET, 405 for other methods. */
function addEverythingElse(app: FastifyInstance, { config, backend }: RouteContext): void {
  app.setNotFoundHandler((request, reply) => {
    if (request.method === 'OPTIONS') return allowedMethods(reply, ['HEAD', 'GET'])
    if (request.method !== 'GET' && request.method !== 'HEAD') return methodNotAllowed(reply, methodsAt(config, backend, request))
    return respondError(reply, notFound())
  })
}

/** Returns the methods of a content path, for requests with a method that the router does not know. */
function methodsAt({ rest }: Config, backend: Backend, request: FastifyRequest): readonly string[] {
  const [path = ''] = (request.raw.url ?? '').split('?')
  const parts = path.startsWith(`${rest.prefix}/`) ? path.slice(rest.prefix.length + 1).split('/') : []
  if (parts.length === 0 || parts.length > 2) return ['HEAD', 'GET']
  return contentMethods(typeAt(backend.installations.model(), parts[0]!, parts.length === 2), parts.length === 2)
}
