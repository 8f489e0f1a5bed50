// The mount of the REST API: its routes and those of content-types. Creates the context of each request.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Identified } from '../../access/identify.js'
import type { Config } from '../../config/config.js'
import type { ApplyScopes } from '../../documents/scopes.js'
import { forbidden, notFound } from '../../errors/errors.js'
import { holding, type Installation } from '../../installation.js'
import type { ContentType } from '../../model/types.js'
import { contentMethods, handleAction, handleContent, isAction, typeAt } from '../api/content.js'
import { descriptionPath, sendDescription } from '../api/description.js'
import type { Backend, MountContext } from '../backend.js'
import { readBody } from '../body-parser.js'
import { addConnectionClose } from '../connections.js'
import { operationCaller, type Reply, type RequestContext, type Route } from '../request-context.js'
import type { LoggedRequest } from '../request-log.js'
import { allowedMethods, methodNotAllowed, respond, respondError, smallResponse } from '../respond.js'
import { addEventStream } from '../stream/route.js'
import { everyMethod, type Mount, readMethods } from './mount.js'

/** The API: these routes, and those of content-types. */
export function apiMount(routes: readonly Route[], parts: MountContext): Mount {
  const { config, backend } = parts
  return {
    prefix: config.rest.prefix,
    secret: ['/auth/', '/connect/'],
    unlogged: [],
    addTo: (app) => {
      for (const path of new Set(routes.map((route) => route.path))) addPath(app, routes, path, parts)
      if (config.docs.enabled) addDescription(app, parts)
      if (parts.streams !== null) addEventStream(app, config, backend, parts.streams)
      addContent(app, parts)
    },
    methodsAt: (path) => methodsAt(config, backend, path),
  }
}

/** Returns the raw query string. */
function rawQuery(request: FastifyRequest): string {
  const url = request.raw.url ?? ''
  const mark = url.indexOf('?')
  return mark === -1 ? '' : url.slice(mark + 1)
}

/** Handles a request with its caller and with one installation, which it holds until it has been handled. */
async function handle(
  parts: MountContext,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (context: RequestContext) => Promise<Reply>,
): Promise<FastifyReply> {
  const { config, backend, hinting } = parts
  const started = performance.now()
  const identified = await backend.identification.identify(request.headers.authorization)
  return holding(backend.installations.enter(identified.access.defaultLocale), async (installation) => {
    const scoped = backend.applyScopes === null ? identified : await withinScopes(backend.applyScopes, identified)
    const ready = performance.now()
    const context = createContext(parts, request, scoped, installation)
    const result = await work(hinting === null ? context : hinting.watch(request, context))
    if (!config.production) addTiming(reply, started, ready)
    return send(parts, request, reply, result)
  })
}

/** Limits what a caller may do to the scopes of the project. */
async function withinScopes(applyScopes: ApplyScopes, { caller, access }: Identified): Promise<Identified> {
  return { caller: { ...caller, grants: await applyScopes(operationCaller(caller), caller.grants) }, access }
}

function createContext(
  { config, backend, bodies }: MountContext,
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
    accounts: caller.grants.scopes.size === 0 ? accounts : { ...accounts, scopes: caller.grants.scopes },
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

/** Adds `Server-Timing`. */
function addTiming(reply: FastifyReply, started: number, identified: number): void {
  const ended = performance.now()
  reply.header('server-timing', `auth;dur=${(identified - started).toFixed(2)}, read;dur=${(ended - identified).toFixed(2)}`)
}

/** Registers the routes of one path. Other methods return 405 before the caller is identified. */
function addPath(app: FastifyInstance, routes: readonly Route[], path: string, parts: MountContext): void {
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
        if (!context.caller.grants.may(route.action)) throw forbidden(route.action)
        return route.handle(context)
      })
    },
  })
}

/** Registers the description of the API. */
function addDescription(app: FastifyInstance, { config, backend }: MountContext): void {
  app.route({
    method: everyMethod,
    url: config.rest.prefix + descriptionPath,
    handler: async (request, reply) => {
      if (request.method === 'OPTIONS') return allowedMethods(reply, readMethods)
      if (request.method !== 'GET' && request.method !== 'HEAD') return methodNotAllowed(reply, readMethods)
      return sendDescription(backend, request, reply)
    },
  })
}

async function send(parts: MountContext, request: FastifyRequest, reply: FastifyReply, result: Reply): Promise<FastifyReply> {
  const { connections, unsent, compression, hinting } = parts
  // Responses as bytes bypass the hooks of the HTTP library.
  if (connections.isDraining()) await addConnectionClose(connections, request, reply)
  if (hinting !== null && result.bytes !== undefined) await hinting.beforeBytes(request, reply, result)
  const ready = compression === null || request.headers['accept-encoding'] === undefined ? result : await compression.result(reply, result)
  if (ready.bytes !== undefined && ready.bytes.bytes.length > smallResponse) unsent.watch(reply.raw, request.ip, ready.bytes.bytes.length)
  return respond(reply, ready)
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

function addContent(app: FastifyInstance, parts: MountContext): void {
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

async function act(parts: MountContext, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { name, documentId, action } = request.params as { name: string; documentId?: string; action: string }
  const type = typeAt(parts.backend.installations.model(), name, documentId !== undefined)
  if (type === null || type.singleType !== (documentId === undefined) || !isAction(action)) throw notFound()
  if (request.method === 'OPTIONS') return allowedMethods(reply, ['POST'])
  ;(request as LoggedRequest).uid = type.uid
  return handle(parts, request, reply, (context) => handleAction(typeOf(context, name, documentId), action, context))
}

/** Returns the methods of a content path, for requests with a method that the router does not know. */
function methodsAt({ rest }: Config, { installations }: Backend, path: string): readonly string[] {
  const parts = path.slice(rest.prefix.length + 1).split('/')
  if (parts.length > 2) return readMethods
  return contentMethods(typeAt(installations.model(), parts[0]!, parts.length === 2), parts.length === 2)
}
