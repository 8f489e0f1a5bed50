// The routes with which Strapi's Content-Type Builder changes the model. A locked model has none.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Audit } from '../../../foundation/runtime/audit.js'
import type { MountContext } from '../../backend.js'
import { handleRequest } from '../../handle-request.js'
import { agreedTo } from '../../model-changes.js'
import { ok, type RequestContext } from '../../request-context.js'
import { allowedMethods, methodNotAllowed } from '../../respond.js'
import { changeAction } from '../api/content-type-builder.js'
import { everyMethod, type Mount, readMethods } from './mount.js'

const prefix = '/content-type-builder'

export const contentTypeBuilderMount = (parts: MountContext): Mount => ({
  prefix,
  secret: [],
  unlogged: [],
  addTo: (app) => {
    addRoute(app, parts, '/update-schema', ['POST'], (context) => updateSchema(context, parts.backend.audit))
    // Changes are active with their response.
    addRoute(app, parts, '/update-schema-status', ['HEAD', 'GET'], async () => ok({ data: { isUpdating: false } }))
  },
  methodsAt: () => readMethods,
})

function addRoute(
  app: FastifyInstance,
  parts: MountContext,
  path: string,
  methods: readonly string[],
  handle: Parameters<typeof handleRequest>[4],
): void {
  app.route({
    method: everyMethod,
    url: prefix + path,
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      if (request.method === 'OPTIONS') return allowedMethods(reply, methods)
      if (!methods.includes(request.method)) return methodNotAllowed(reply, methods)
      return handleRequest(parts, request, reply, { action: changeAction, identifies: true, scopes: 'hidden' }, handle)
    },
  })
}

/** @throws what `LiveModel.change` throws */
async function updateSchema(context: RequestContext, audit: Audit | null) {
  const { modelChanges, request } = context
  const body = await context.body()
  context.leaveInstallation()
  const { status, body: value } = await modelChanges.byBuilder(body, agreedTo(request))
  audit?.note({ actor: context.asker.caller, action: 'update', type: 'model' })
  return { status, value }
}
