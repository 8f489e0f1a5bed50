// The mount of all other paths: the start page, pages for users, the health check, custom routes at the root path, and 404 or 405 for the
// rest.
import type { FastifyInstance } from 'fastify'
import { ApiError } from '../../foundation/errors/errors.js'
import type { MountContext } from '../backend.js'
import { addAccountPages } from '../pages/account-pages.js'
import { addStartPage } from '../pages/start-page.js'
import { respondExpectedError } from '../respond.js'
import { createCustomMethods } from './custom-paths.js'
import { addCustomRoutes } from './custom-routes.js'
import { everyMethod, type Mount, readMethods } from './mount.js'

const health = '/_health'
/** The icon that browsers request automatically. */
const favicon = '/favicon.ico'

/** The start page, the pages for users and the health check. */
export function rootMount(parts: MountContext): Mount {
  const custom = createCustomMethods(parts.config.routes, 'root')
  return {
    prefix: '',
    secret: [],
    unlogged: [health, favicon],
    addTo: (app) => {
      addTo(app, parts)
      addCustomRoutes(app, 'root', '', parts)
    },
    methodsAt: (path) => {
      const methods = custom(path)
      return methods.length === 0 ? readMethods : methods
    },
  }
}

function addTo(app: FastifyInstance, parts: MountContext): void {
  const { backend, connections } = parts
  app.route({
    method: everyMethod,
    url: health,
    handler: (_request, reply) => {
      if (connections.isDraining()) return respondExpectedError(reply, new ApiError('ServiceUnavailableError', 'The service is stopping'))
      const trouble = backend.health()
      if (trouble !== null) throw new ApiError('ServiceUnavailableError', trouble)
      return reply.status(204).removeHeader('content-type').send()
    },
  })
  app.get(favicon, async (_request, reply) =>
    reply.status(204).removeHeader('content-type').header('cache-control', 'max-age=86400').send(),
  )
  addAccountPages(app, parts.config)
  if (parts.config.startPage) addStartPage(app, parts)
}
