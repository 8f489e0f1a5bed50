// Adds the routes of a project to a mount. They are identified, checked and logged as all others are.
import type { FastifyInstance } from 'fastify'
import type { CustomRoute } from '../../public/routes.js'
import type { MountContext } from '../backend.js'
import { runRoute } from '../custom-routes/run.js'
import { handleRequest } from '../handle-request.js'

/** Registers the custom routes of one base, whose paths are below `prefix`. */
export function addCustomRoutes(app: FastifyInstance, base: 'api' | 'root', prefix: string, parts: MountContext): void {
  for (const route of parts.config.routes) if ((route.base ?? 'api') === base) addRoute(app, route, prefix + route.path, parts)
}

function addRoute(app: FastifyInstance, route: CustomRoute, url: string, parts: MountContext): void {
  const { services } = parts.backend
  const { stopping } = parts.connections
  const admission = { action: route.action ?? null, identifies: route.auth !== false, isContentless: false }
  app.route({
    method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
    url,
    handler: (request, reply) =>
      handleRequest(parts, request, reply, admission, (context) =>
        runRoute(route, context, { services, log: request.log, response: reply.raw, stopping }),
      ),
  })
}
