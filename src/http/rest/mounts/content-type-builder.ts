// The mount of Strapi's content-type builder, by which the model is changed while serving.
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

/** The paths below the prefix, and the methods of each. */
const paths: Readonly<Record<string, readonly string[]>> = {
  '/content-types': ['POST'],
  '/content-types/:uid': ['PUT', 'DELETE'],
  '/components': ['POST'],
  '/components/:uid': ['PUT', 'DELETE'],
  '/component-categories/:name': ['PUT', 'DELETE'],
  '/update-schema': ['POST'],
  '/update-schema-status': ['HEAD', 'GET'],
}

/** The routes that Strapi's panel and scripts change a model by, for callers that may. Where the model is locked, there are none. */
export const contentTypeBuilderMount = (parts: MountContext): Mount => ({
  ...{ prefix, secret: [], unlogged: [] },
  addTo: (app) => addTo(app, parts),
  methodsAt: () => readMethods,
})

function addTo(app: FastifyInstance, parts: MountContext): void {
  for (const [path, methods] of Object.entries(paths))
    app.route({
      method: everyMethod,
      url: prefix + path,
      handler: async (request: FastifyRequest, reply: FastifyReply) => {
        if (request.method === 'OPTIONS') return allowedMethods(reply, methods)
        if (!methods.includes(request.method)) return methodNotAllowed(reply, methods)
        return handleRequest(parts, request, reply, { action: changeAction, identifies: true, scopes: 'hidden' }, (context) =>
          methods.includes('GET') ? Promise.resolve(ok({ data: { isUpdating: false } })) : change(context, parts.backend.audit),
        )
      },
    })
}

/** @throws what `LiveModel.change` throws */
async function change(context: RequestContext, audit: Audit | null) {
  const { modelChanges, request } = context
  const body = await context.body()
  context.leaveInstallation()
  const [path = ''] = (request.url ?? '').split('?')
  const { status, body: value } = await modelChanges.byBuilder({ method: request.method!, path, body }, agreedTo(request))
  audit?.note({ actor: context.asker.caller, action: 'update', type: 'model' })
  return { status, value }
}
