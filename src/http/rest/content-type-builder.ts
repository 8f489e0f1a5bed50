// The model in the format of schema.json: read routes of Strapi's content-type builder, which clients such as gatsby-source-strapi use, and
// routes that change it.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { notFound, validationError } from '../../foundation/errors/errors.js'
import type { Audit } from '../../foundation/runtime/audit-log.js'
import type { Model } from '../../model/schema/types.js'
import type { PrepareChange } from '../../project/model-changes/change.js'
import { readSchemaRequest } from '../../project/model-changes/schema-request.js'
import type { MountContext } from '../backend.js'
import { handleRequest } from '../handle-request.js'
import {
  describeComponent,
  describeComponents,
  describeType,
  describeTypes,
  formatChange,
  readAgreement,
  refuseLocked,
  withPlan,
} from '../model-responses.js'
import { ok, type Reply, type RequestContext, type Route } from '../request-context.js'
import { allowedMethods, methodNotAllowed } from '../respond.js'
import { everyMethod, type Mount, readMethods } from './mount.js'

const model = ({ documents }: RequestContext): Model => documents.context.model

const changeAction = 'plugin::content-type-builder.schemas.update'

/** The routes of /api/content-type-builder. */
export const contentTypeBuilderRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/content-type-builder/content-types',
    action: 'plugin::content-type-builder.content-types.getContentTypes',
    isContentless: true,
    handle: async (context) => ok({ data: describeTypes(model(context)) }),
  },
  {
    method: 'GET',
    path: '/content-type-builder/content-types/:uid',
    action: 'plugin::content-type-builder.content-types.getContentType',
    isContentless: true,
    handle: async (context) => {
      const type = model(context).types.get(context.params.uid!)
      if (type === undefined) throw notFound('contentType.notFound')
      return ok({ data: describeType(type) })
    },
  },
  {
    method: 'GET',
    path: '/content-type-builder/components',
    action: 'plugin::content-type-builder.components.getComponents',
    isContentless: true,
    handle: async (context) => ok({ data: describeComponents(model(context)) }),
  },
  {
    method: 'GET',
    path: '/content-type-builder/components/:uid',
    action: 'plugin::content-type-builder.components.getComponent',
    isContentless: true,
    handle: async (context) => {
      const component = model(context).components.get(context.params.uid!)
      if (component === undefined) throw notFound('component.notFound')
      return ok({ data: describeComponent(component) })
    },
  },
  {
    method: 'PUT',
    path: '/content-type-builder/schemas',
    action: changeAction,
    isContentless: true,
    handle: changeSchemas,
  },
  {
    method: 'POST',
    path: '/content-type-builder/plan',
    action: changeAction,
    isContentless: true,
    handle: async (context) =>
      ok({ data: withPlan(await context.modelChanges.live.plan(prepareChange(context, await readUnlockedBody(context)))) }),
  },
  {
    method: 'POST',
    path: '/content-type-builder/undo',
    action: changeAction,
    isContentless: true,
    handle: undo,
  },
  {
    method: 'GET',
    path: '/content-type-builder/changes',
    action: changeAction,
    isContentless: true,
    handle: async ({ modelChanges }) => ok({ data: (await modelChanges.live.history()).map(formatChange) }),
  },
]

/** @throws ApiError 403, and as `body` of the context */
async function readUnlockedBody(context: RequestContext): Promise<unknown> {
  refuseLocked(context.config)
  return context.body()
}

/**
 * The change that a request asks for, read by code that is loaded for it. What changes the model waits for requests under way, so this one
 * is none from here on.
 */
function prepareChange({ config, request, leaveInstallation }: RequestContext, body: unknown): PrepareChange {
  leaveInstallation()
  return async (inForce) => {
    return readSchemaRequest(config.folder, inForce, body, readAgreement(request))
  }
}

/** Undoes a change: that with the id `data.change`, or the last one. */
async function undo(context: RequestContext): Promise<Reply> {
  const body = (await readUnlockedBody(context)) as { readonly data?: { readonly change?: unknown } } | undefined
  const change = body?.data?.change ?? null
  if (change !== null && !Number.isSafeInteger(change)) throw validationError('data.change must be the id of a change')
  context.leaveInstallation()
  return ok({ data: withPlan(await context.modelChanges.live.undo(change as number | null, { agreed: readAgreement(context.request) })) })
}

/** Changes schemas; the response is sent when the change is in force (docs/spec/live-model.md). @throws ApiError 400, 403, 409 */
async function changeSchemas(context: RequestContext): Promise<Reply> {
  const body = await readUnlockedBody(context)
  const result = await context.modelChanges.live.change(prepareChange(context, body))
  return ok({ data: { schemas: Object.keys((body as { readonly data: object }).data), ...withPlan(result) } })
}

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

async function updateSchema(context: RequestContext, audit: Audit | null) {
  const { modelChanges, request } = context
  const body = await context.body()
  context.leaveInstallation()
  const { status, body: value } = await modelChanges.byBuilder(body, readAgreement(request))
  audit?.note({ actor: context.asker.caller, action: 'update', type: 'model' })
  return { status, value }
}
