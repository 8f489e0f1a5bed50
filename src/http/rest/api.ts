// The mount of the REST API: its routes and those of content-types.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../../foundation/errors/errors.js'
import { createExcludedRoutes, typeWithRoute } from '../../model/schema/type-routes.js'
import type { MountContext } from '../backend.js'
import { handleRequest } from '../handle-request.js'
import { withAudit } from '../observability.js'
import { noContent, type Reply, type Route } from '../request-context.js'
import { allowedMethods, methodNotAllowed, respondError } from '../respond.js'
import { addContent, type ContentPaths, createContentPaths, methodsAt, serveInPlace, typeMethodsAt } from './content.js'
import { createCustomMethods, joinMethods } from './custom-paths.js'
import { addCustomRoutes } from './custom-routes.js'
import { descriptionPath, sendDescription } from './description.js'
import { addEventStream } from './event-stream.js'
import { everyMethod, type Mount, readMethods } from './mount.js'

/** The API: these routes, and those of content-types. */
export function apiMount(routes: readonly Route[], parts: MountContext): Mount {
  const { config } = parts
  const { prefix } = config.rest
  const paths = createContentPaths(createCustomMethods(config.routes, 'api'), createExcludedRoutes(config.types))
  return {
    prefix,
    secret: ['/auth/', '/connect/'],
    unlogged: [],
    addTo: (app) => {
      for (const path of new Set(routes.map((route) => route.path))) addPath(app, { routes, path, parts, paths })
      if (config.docs.enabled) addDescription(app, parts)
      if (config.events.stream !== null) addEventStream(app, config, parts.backend, parts.streams)
      addContent(app, parts, paths)
      addCustomRoutes(app, 'api', prefix, parts)
    },
    methodsAt: (path) => methodsAt(parts.backend, path.slice(prefix.length), paths),
  }
}

interface ServicePath {
  readonly path: string
  readonly routes: readonly Route[]
  readonly parts: MountContext
  readonly paths: ContentPaths
}

/**
 * Registers the routes of one path, which come after those of a content-type that has the path as well. Other methods return 405 before the
 * caller is identified, except those of custom routes.
 */
function addPath(app: FastifyInstance, { path, routes, parts, paths }: ServicePath): void {
  const { config, backend } = parts
  const custom = paths.custom(path)
  const here = new Map(routes.filter((route) => route.path === path).map((route) => [route.method as string, route]))
  const own = [...(here.has('GET') ? ['HEAD', 'GET'] : []), ...[...here.keys()].filter((method) => method !== 'GET')]
  const methods = joinMethods(own, custom)
  app.route({
    method: everyMethod.filter((method) => !custom.includes(method)),
    url: config.rest.prefix + path,
    handler: async (request, reply) => {
      const route = here.get(request.method === 'HEAD' ? 'GET' : request.method)
      if (typeWithRoute(backend.installations.model(), request.method, path) !== null)
        return serveInPlace(parts, paths, path, request, reply)
      if (request.method === 'OPTIONS') return allowedMethods(reply, joinMethods(methods, typeMethodsAt(backend, path, paths)))
      if (route === undefined) return refuseMethod(request, reply, here, methods)
      const scopes = route.isContentless === true ? ('hidden' as const) : ('applied' as const)
      const admission = { action: route.action, identifies: true, scopes }
      const isIdle = request.method === 'HEAD' && route.changes === true
      const handled = handleRequest(parts, request, reply, admission, isIdle ? doNothing : withAudit(backend.audit, route))
      if (route.refuse === undefined) return handled
      const settings = async () => (await backend.identification.access()).accounts
      return handled.catch((error: unknown) => route.refuse!({ error, request, reply, config, settings }))
    },
  })
}

/** HEAD of a GET with effects, such as a link in an e-mail that a scanner opens. */
const doNothing = async (): Promise<Reply> => noContent

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
