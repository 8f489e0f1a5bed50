// Adds the routes of a project to a mount. They are identified, checked and logged as all others are.
import type { FastifyInstance } from 'fastify'
import type { Grants } from '../../../foundation/grants.js'
import type { CustomRoute } from '../../../foundation/public/routes.js'
import type { MountContext } from '../../backend.js'
import { type Admission, handleRequest } from '../../handle-request.js'
import type { RequestContext } from '../../request-context.js'
import { runRoute } from '../custom-routes/run.js'

/** Registers the custom routes of one base, whose paths are below `prefix`. */
export function addCustomRoutes(app: FastifyInstance, base: 'api' | 'root', prefix: string, parts: MountContext): void {
  for (const route of parts.config.routes) if ((route.base ?? 'api') === base) addRoute(app, route, prefix + route.path, parts)
}

function addRoute(app: FastifyInstance, route: CustomRoute, url: string, parts: MountContext): void {
  const { services, scopes } = parts.backend
  const { stopping } = parts.connections
  const admission: Admission = { action: route.action ?? null, identifies: route.auth !== false, scopes: 'later' }

  /** The caller's grants within its scopes, which are asked once, and only if the route reads or writes content for the caller. */
  function scopedGrants({ asker, caller }: RequestContext): () => Promise<Grants> {
    let asked: Promise<Grants> | null = null
    return () => {
      asked ??= scopes === null ? Promise.resolve(caller.grants) : scopes.apply(asker, caller.grants)
      return asked
    }
  }

  app.route({
    method: route.method === 'GET' ? ['GET', 'HEAD'] : route.method,
    url,
    config: { isCustom: true },
    handler: (request, reply) =>
      handleRequest(parts, request, reply, admission, (context) =>
        runRoute(route, context, {
          services,
          grants: scopedGrants(context),
          log: request.log.child({ requestId: request.id }),
          response: reply.raw,
          stopping,
        }),
      ),
  })
}
