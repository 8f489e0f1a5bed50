// Which path leads to which route, and what each route is told of its request. Everything else is 404 or 405.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Identification, Identified } from '../access/identify.js'
import type { Config } from '../config/config.js'
import { ApiError, forbidden, notFound } from '../errors/errors.js'
import type { Installation, Installations } from '../installation.js'
import type { ContentType } from '../model/types.js'
import type { AddSourceMaps } from '../source-maps/source-maps.js'
import type { Library } from '../uploads/library.js'
import type { CheckAddress } from '../uploads/signing.js'
import { contentMethods, handleAction, handleContent, isAction, typeAt } from './api/content.js'
import { readBody } from './body-parser.js'
import { type Connections, sayLast } from './connections.js'
import type { IncomingBodies } from './incoming-bodies.js'
import { startPage } from './pages/start-page.js'
import type { Reply, RequestContext, Route } from './request-context.js'
import type { Noted } from './request-log.js'
import { allowedMethods, methodNotAllowed, onePiece, respond, respondError } from './respond.js'
import type { Unsent } from './unsent-responses.js'

/** What the server needs of the service behind it. */
export interface Backend {
  readonly identification: Identification
  readonly library: Library
  /** Checks addresses of files; null: everyone may read them. */
  readonly checkAddress: CheckAddress | null
  /** Answers sign the addresses of files, and say so of each. */
  readonly signsAddresses: boolean
  /** Writes into answers where their texts come from. */
  readonly markSources: AddSourceMaps
  /** Null while the service can do its work; otherwise what is wrong, as a sentence. */
  health(): string | null
  readonly installations: Installations
}

/** Liveness: from memory, and without a log line. */
export const health = '/_health'
/** The picture that browsers look for. */
export const favicon = '/favicon.ico'

const everyMethod = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** What every route is registered with. */
export interface Surroundings {
  readonly config: Config
  readonly backend: Backend
  readonly connections: Connections
  readonly coming: IncomingBodies
  readonly unsent: Unsent
}

/** Registers these routes below the prefix of the API, those of the content-types, and what is beside them. */
export function addRoutes(app: FastifyInstance, routes: readonly Route[], around: Surroundings): void {
  addPlainRoutes(app, around)
  for (const path of new Set(routes.map((route) => route.path))) addPath(app, routes, path, around)
  addContent(app, around)
  addEverythingElse(app, around)
}

/** The query string as it came. */
function rawQuery(request: FastifyRequest): string {
  const url = request.raw.url ?? ''
  const mark = url.indexOf('?')
  return mark === -1 ? '' : url.slice(mark + 1)
}

/** Handles a request with its caller and its installation, which lasts until it has been handled. */
async function handle(
  around: Surroundings,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (context: RequestContext) => Promise<Reply>,
) {
  const { config, backend } = around
  const started = performance.now()
  const identified = await backend.identification.identify(request.headers.authorization)
  const lease = backend.installations.enter(identified.access.defaultLocale)
  try {
    const ready = performance.now()
    const answer = await work(contextOf(around, request, identified, lease.installation))
    addTiming(config, reply, started, ready)
    return await send(around, request, reply, answer)
  } finally {
    lease.end()
  }
}

function contextOf(
  { config, backend, coming }: Surroundings,
  request: FastifyRequest,
  { caller, access }: Identified,
  installation: Installation,
): RequestContext {
  const format = request.headers['strapi-response-format'] === 'v4' ? 'nested' : 'flat'
  ;(request as Noted).callerName = caller.kind === 'public' ? 'public' : `${caller.kind} ${caller.id}`
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
    // Nested answers have no marks, as in Strapi.
    markSources: request.headers['strapi-encode-source-maps'] === 'true' && format === 'flat' ? backend.markSources : null,
    request: request.raw,
    isGone: () => request.raw.socket.destroyed,
    coming: () => coming.begin(request.ip),
    body: () => readBody(request.raw, request.ip, coming, config.limits),
  }
}

/** Times of a request's parts, for developers: not shown in production. */
function addTiming(config: Config, reply: FastifyReply, started: number, identified: number): void {
  if (config.production) return
  const ended = performance.now()
  reply.header('server-timing', `auth;dur=${(identified - started).toFixed(2)}, read;dur=${(ended - identified).toFixed(2)}`)
}

/** Registers the routes of one path; what it does not have is 405 before anyone is asked who they are. */
function addPath(app: FastifyInstance, routes: readonly Route[], path: string, around: Surroundings): void {
  const { config } = around
  const here = new Map(routes.filter((route) => route.path === path).map((route) => [route.method as string, route]))
  const methods = [...(here.has('GET') ? ['HEAD', 'GET'] : []), ...[...here.keys()].filter((method) => method !== 'GET')]
  app.route({
    method: everyMethod,
    url: config.rest.prefix + path,
    handler: async (request, reply) => {
      const route = here.get(request.method === 'HEAD' ? 'GET' : request.method)
      if (request.method === 'OPTIONS') return allowedMethods(reply, methods)
      if (route === undefined) return answerMissing(request, reply, here, methods)
      return handle(around, request, reply, async (context) => {
        if (!context.caller.grants.may(route.action)) throw forbidden()
        return route.handle(context)
      })
    },
  })
}

async function send(
  { connections, unsent }: Surroundings,
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Reply,
): Promise<FastifyReply> {
  // Bytes leave past the hooks of the HTTP library.
  if (connections.isDraining()) await sayLast(connections, request, reply)
  if (answer.bytes !== undefined && answer.bytes.bytes.length > onePiece) unsent.watch(reply.raw, request.ip, answer.bytes.bytes.length)
  return respond(reply, answer)
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

function addContent(app: FastifyInstance, around: Surroundings): void {
  const { config, backend } = around
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    const { name, documentId } = request.params as { name: string; documentId?: string }
    const type = typeAt(backend.installations.model(), name, documentId !== undefined)
    const methods = contentMethods(type, documentId !== undefined)
    if (request.method === 'OPTIONS') return allowedMethods(reply, methods)
    if (!methods.includes(request.method)) return methodNotAllowed(reply, methods)
    if (type === null) throw notFound()
    ;(request as Noted).uid = type.uid
    return handle(around, request, reply, (context) => handleContent(typeOf(context, name, documentId), request.method, context))
  }
  app.route({ method: everyMethod, url: `${config.rest.prefix}/:name`, handler })
  app.route({ method: everyMethod, url: `${config.rest.prefix}/:name/:documentId`, handler })
  for (const path of ['/:name/actions/:action', '/:name/:documentId/actions/:action']) {
    app.route({
      method: ['POST', 'OPTIONS'],
      url: config.rest.prefix + path,
      handler: (request, reply) => act(around, request, reply),
    })
  }
}

/** The type of a request, from the installation that it is answered by. @throws ApiError 404 if it has gone since the path was looked at */
function typeOf({ installation }: RequestContext, name: string, documentId: string | undefined): ContentType {
  const type = typeAt(installation.model, name, documentId !== undefined)
  if (type === null) throw notFound()
  return type
}

async function act(around: Surroundings, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { name, documentId, action } = request.params as { name: string; documentId?: string; action: string }
  const type = typeAt(around.backend.installations.model(), name, documentId !== undefined)
  if (type === null || type.singleType !== (documentId === undefined) || !isAction(action)) throw notFound()
  if (request.method === 'OPTIONS') return allowedMethods(reply, ['POST'])
  ;(request as Noted).uid = type.uid
  return handle(around, request, reply, (context) => handleAction(typeOf(context, name, documentId), action, context))
}

function addPlainRoutes(app: FastifyInstance, { config, backend, connections }: Surroundings): void {
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
  // Browsers ask for it by themselves: it is no request of anybody's.
  app.get(favicon, async (_request, reply) =>
    reply.status(204).removeHeader('content-type').header('cache-control', 'max-age=86400').send(),
  )
  app.get('/', async (_request, reply) => {
    const visitor = (await backend.identification.access()).public
    const page = startPage(backend.installations.model(), visitor, config.rest.prefix, !config.production)
    return reply.type('text/html; charset=utf-8').header('content-security-policy', page.policy).send(page.html)
  })
}

/** Every other path: a GET finds nothing, other methods are not there. */
function addEverythingElse(app: FastifyInstance, { config, backend }: Surroundings): void {
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
  return contentMethods(typeAt(backend.installations.model(), parts[0]!, parts.length === 2), parts.length === 2)
}
