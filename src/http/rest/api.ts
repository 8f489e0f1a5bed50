// The mount of the REST API: its routes and those of content-types.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../../foundation/errors/errors.js'
import { actionsAt, type LeftOutRoutes, leftOutRoutes, publicationActions, typeWithRoute } from '../../model/schema/type-routes.js'
import type { ContentType } from '../../model/schema/types.js'
import type { Backend, MountContext } from '../backend.js'
import { contentAdmission, handleRequest } from '../handle-request.js'
import { auditedHandle } from '../observability.js'
import { noContent, type Reply, type RequestContext, type Route } from '../request-context.js'
import type { LoggedRequest } from '../request-log.js'
import { allowedMethods, methodNotAllowed, respondError } from '../respond.js'
import { type ContentMethods, handleAction, handleContent, isAction, openContentMethods, typeAt } from './content.js'
import { type CustomMethods, joinedMethods, openCustomMethods } from './custom-paths.js'
import { addCustomRoutes } from './custom-routes.js'
import { descriptionPath, sendDescription } from './description.js'
import { addEventStream } from './event-stream.js'
import { everyMethod, type Mount, readMethods } from './mount.js'

/** The API: these routes, and those of content-types. */
export function apiMount(routes: readonly Route[], parts: MountContext): Mount {
  const { config } = parts
  const { prefix } = config.rest
  const custom = openCustomMethods(config.routes, 'api')
  const leftOut = leftOutRoutes(config.types)
  const paths: ContentPaths = { custom, leftOut, methodsOf: openContentMethods(leftOut) }
  return {
    prefix,
    secret: ['/auth/', '/connect/'],
    unlogged: [],
    addTo: (app) => {
      for (const path of new Set(routes.map((route) => route.path))) addPath(app, { routes, path, parts, paths })
      if (config.docs.enabled) addDescription(app, parts)
      if (parts.streams !== null) addEventStream(app, config, parts.backend, parts.streams)
      addContent(app, parts, paths)
      addCustomRoutes(app, 'api', prefix, parts)
    },
    methodsAt: (path) => methodsAt(parts.backend, path.slice(prefix.length), paths),
  }
}

/** A path with routes of the service. */
interface OwnPath {
  readonly path: string
  readonly routes: readonly Route[]
  readonly parts: MountContext
  readonly paths: ContentPaths
}

/**
 * Registers the routes of one path, which come after those of a content-type that has the path as well. Other methods return 405 before the
 * caller is identified, except those of custom routes.
 */
function addPath(app: FastifyInstance, { path, routes, parts, paths }: OwnPath): void {
  const { config, backend } = parts
  const custom = paths.custom(path)
  const here = new Map(routes.filter((route) => route.path === path).map((route) => [route.method as string, route]))
  const own = [...(here.has('GET') ? ['HEAD', 'GET'] : []), ...[...here.keys()].filter((method) => method !== 'GET')]
  const methods = joinedMethods(own, custom)
  app.route({
    method: everyMethod.filter((method) => !custom.includes(method)),
    url: config.rest.prefix + path,
    handler: async (request, reply) => {
      const route = here.get(request.method === 'HEAD' ? 'GET' : request.method)
      if (typeWithRoute(backend.installations.model(), request.method, path) !== null)
        return serveInPlace(parts, paths, path, request, reply)
      if (request.method === 'OPTIONS') return allowedMethods(reply, joinedMethods(methods, typeMethodsAt(backend, path, paths)))
      if (route === undefined) return refuseMethod(request, reply, here, methods)
      const scopes = route.isContentless === true ? ('hidden' as const) : ('asked' as const)
      const admission = { action: route.action, identifies: true, scopes }
      const isIdle = request.method === 'HEAD' && route.changes === true
      const handled = handleRequest(parts, request, reply, admission, isIdle ? doNothing : auditedHandle(backend.audit, route))
      if (route.refuse === undefined) return handled
      const settings = async () => (await backend.identification.access()).accounts
      return handled.catch((error: unknown) => route.refuse!({ error, request, reply, config, settings }))
    },
  })
}

/** HEAD of a GET with effects, such as a link in an e-mail that a scanner opens. */
const doNothing = async (): Promise<Reply> => noContent

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

/** Changes of the configuration to the paths of content-types. */
interface ContentPaths {
  readonly custom: CustomMethods
  readonly leftOut: LeftOutRoutes | null
  readonly methodsOf: ContentMethods
}

/** Responds to a request to a content-type. */
async function serveContent(
  parts: MountContext,
  { custom, leftOut, methodsOf }: ContentPaths,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { name, documentId } = request.params as { name: string; documentId?: string }
  const type =
    typeAt(parts.backend.installations.model(), name, documentId !== undefined) ??
    (await newTypeAt(parts.backend, name, documentId !== undefined))
  const methods = methodsOf(type, documentId !== undefined)
  if (!methods.includes(request.method)) {
    const allowed = allowedAt(type, methods, custom(pathOf(request).slice(parts.config.rest.prefix.length)))
    return request.method === 'OPTIONS' ? allowedMethods(reply, allowed) : methodNotAllowed(reply, allowed)
  }
  // Routes that are left out reach this only as reads.
  if (type === null || leftOut?.(type.uid, actionsAt(type, documentId !== undefined)[request.method]!) === true) throw notFound()
  ;(request as LoggedRequest).uid = type.uid
  return handleRequest(parts, request, reply, contentAdmission, (context) =>
    handleContent(typeOf(context, name, documentId), request.method, context),
  )
}

/** Responds to a request to a content-type whose path the service has as well: `/users/:id`, `/users/me`. */
function serveInPlace(parts: MountContext, paths: ContentPaths, path: string, request: FastifyRequest, reply: FastifyReply) {
  const [name = '', part] = path.slice(1).split('/')
  const given = request.params as Readonly<Record<string, string>>
  const documentId = part?.startsWith(':') ? given[part.slice(1)] : part
  ;(request as { params: unknown }).params = documentId === undefined ? { name } : { name, documentId }
  ;(request as LoggedRequest).routeName = `${parts.config.rest.prefix}/:name${documentId === undefined ? '' : '/:documentId'}`
  return serveContent(parts, paths, request, reply)
}

/** The methods of the content-type at a path that the service has as well. */
function typeMethodsAt({ installations }: Backend, path: string, { methodsOf }: ContentPaths): readonly string[] {
  const [name = '', id, ...others] = path.slice(1).split('/')
  const type = others.length > 0 ? null : typeAt(installations.model(), name, id !== undefined)
  return type === null ? [] : methodsOf(type, id !== undefined)
}

function addContent(app: FastifyInstance, parts: MountContext, paths: ContentPaths): void {
  const { config } = parts
  const { leftOut } = paths
  const handler = (request: FastifyRequest, reply: FastifyReply) => serveContent(parts, paths, request, reply)
  app.route({ method: everyMethod, url: `${config.rest.prefix}/:name`, handler })
  app.route({ method: everyMethod, url: `${config.rest.prefix}/:name/:documentId`, handler })
  for (const path of ['/:name/actions/:action', '/:name/:documentId/actions/:action']) {
    app.route({
      method: ['POST', 'OPTIONS'],
      url: config.rest.prefix + path,
      handler: (request, reply) => act(parts, leftOut, request, reply),
    })
  }
}

const pathOf = ({ raw }: FastifyRequest): string => (raw.url ?? '').split('?', 1)[0]!

/** The methods of a content path, with those of custom routes at the same path. */
const allowedAt = (type: ContentType | null, methods: readonly string[], custom: readonly string[]): readonly string[] =>
  type === null && custom.length > 0 ? custom : joinedMethods(methods, custom)

/** The type at a path, after loading changes of the model by other processes. */
async function newTypeAt({ installations, identification }: Backend, name: string, hasId: boolean): Promise<ContentType | null> {
  await identification.access()
  return typeAt(installations.model(), name, hasId)
}

/** The type of a request in its installation. @throws ApiError 404 if it has gone since the path was matched */
function typeOf({ installation }: RequestContext, name: string, documentId: string | undefined): ContentType {
  const type = typeAt(installation.model, name, documentId !== undefined)
  if (type === null) throw notFound()
  return type
}

async function act(
  parts: MountContext,
  leftOut: LeftOutRoutes | null,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { name, documentId, action } = request.params as { name: string; documentId?: string; action: string }
  const hasId = documentId !== undefined
  const type = typeAt(parts.backend.installations.model(), name, hasId) ?? (await newTypeAt(parts.backend, name, hasId))
  if (type === null || type.singleType !== (documentId === undefined) || !isAction(action)) throw notFound()
  if (leftOut?.(type.uid, publicationActions[action]!) === true) throw notFound()
  if (request.method === 'OPTIONS') return allowedMethods(reply, ['POST'])
  ;(request as LoggedRequest).uid = type.uid
  return handleRequest(parts, request, reply, contentAdmission, (context) =>
    handleAction(typeOf(context, name, documentId), action, context),
  )
}

/** Returns the methods of a path below the prefix, for requests that no route takes. */
function methodsAt({ installations }: Backend, path: string, { custom, methodsOf }: ContentPaths): readonly string[] {
  const parts = path.slice(1).split('/')
  const type = parts.length > 2 ? null : typeAt(installations.model(), parts[0]!, parts.length === 2)
  return allowedAt(type, methodsOf(type, parts.length === 2), custom(path))
}
