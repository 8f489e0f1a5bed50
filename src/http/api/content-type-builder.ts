// The read routes of Strapi's content-type-builder, which clients such as gatsby-source-strapi use: the model in the format of schema.json. One
// route of our own changes it.
import type { IncomingMessage } from 'node:http'
import { ApiError, notFound, validationError } from '../../errors/errors.js'
import type { ChangeResult, PlannedChange, PrepareChange } from '../../live-model/change.js'
import { readSchemaRequest } from '../../live-model/schema-request.js'
import type { AttributeSource, Component, ContentType, Model } from '../../model/types.js'
import type { Reply, RequestContext, Route } from '../request-context.js'
import { ok } from '../request-context.js'

const model = ({ documents }: RequestContext): Model => documents.context.model

/** The action by which the model is changed. */
export const changeAction = 'plugin::content-type-builder.schemas.update'

/** The content that a request agrees to hide, by the header `octavo-agree`. */
export const agreedTo = ({ headers }: IncomingMessage): ReadonlySet<string> =>
  new Set(
    String(headers['octavo-agree'] ?? '')
      .split(',')
      .map((name) => name.trim()),
  )

/** The routes of /api/content-type-builder. */
export const contentTypeBuilderRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/content-type-builder/content-types',
    action: 'plugin::content-type-builder.content-types.getContentTypes',
    isContentless: true,
    handle: async (context) =>
      ok({ data: [...model(context).types.values()].filter(({ uid }) => !uid.startsWith('admin::')).map(describeType) }),
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
    handle: async (context) => ok({ data: [...model(context).components.values()].map(describeComponent) }),
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
    handle: async (context) => ok({ data: withPlan(await context.modelChanges.live.plan(preparation(context, await bodyOf(context)))) }),
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
    handle: async ({ modelChanges }) =>
      ok({
        data: (await modelChanges.live.history()).map(({ madeAt, ...change }) => ({
          ...change,
          madeAt: new Date(madeAt).toISOString(),
        })),
      }),
  },
]

/** @throws ApiError 403 */
function refuseLocked({ config }: RequestContext): void {
  if (!config.modelChanges) throw new ApiError('ForbiddenError', 'The model is locked: the setting admin.model of octavo.config unlocks it')
}

/** @throws ApiError 403, and as `body` of the context */
async function bodyOf(context: RequestContext): Promise<unknown> {
  refuseLocked(context)
  return context.body()
}

/** The change that a request asks for. What changes the model waits for requests under way, so this one is none from here on. */
function preparation({ config, request, leaveInstallation }: RequestContext, body: unknown): PrepareChange {
  leaveInstallation()
  return (model) => readSchemaRequest(config.folder, model, body, agreedTo(request))
}

const withPlan = ({ version, plan }: ChangeResult | PlannedChange) => ({ version, ...plan })

/** Undoes a change: that with the id `data.change`, or the last one. */
async function undo(context: RequestContext): Promise<Reply> {
  const body = (await bodyOf(context)) as { readonly data?: { readonly change?: unknown } } | undefined
  const change = body?.data?.change ?? null
  if (change !== null && !Number.isSafeInteger(change)) throw validationError('data.change must be the id of a change')
  context.leaveInstallation()
  return ok({ data: withPlan(await context.modelChanges.live.undo(change as number | null, agreedTo(context.request))) })
}

/** Changes schemas; the response is sent when the change is in force (docs/spec/live-model.md). @throws ApiError 400, 403, 409 */
async function changeSchemas(context: RequestContext): Promise<Reply> {
  const body = await bodyOf(context)
  const result = await context.modelChanges.live.change(preparation(context, body))
  return ok({ data: { schemas: Object.keys((body as { readonly data: object }).data), ...withPlan(result) } })
}

function describeType(type: ContentType) {
  const { source, uid } = type
  const plugin = /^plugin::(.+?)\./.exec(uid)?.[1]
  const managed = (source.pluginOptions?.['content-type-builder'] as { visible?: boolean } | undefined)?.visible
  return {
    uid,
    ...(plugin === undefined ? {} : { plugin }),
    apiID: type.singularName,
    schema: {
      draftAndPublish: type.draftAndPublish,
      displayName: type.displayName,
      singularName: type.singularName,
      pluralName: type.pluralName,
      description: source.info.description ?? '',
      pluginOptions: source.pluginOptions ?? {},
      kind: source.kind,
      collectionName: type.table,
      attributes: describeAttributes(source.attributes),
      visible: managed !== false,
      restrictRelationsTo: null,
    },
  }
}

function describeComponent(component: Component) {
  const { source } = component
  return {
    uid: component.uid,
    category: component.category,
    apiId: component.name,
    schema: {
      displayName: component.displayName,
      description: source.info.description ?? '',
      ...(source.info.icon === undefined ? {} : { icon: source.info.icon }),
      collectionName: component.table,
      attributes: describeAttributes(source.attributes),
    },
  }
}

/** Adds defaults and the attribute of the other side to relations. */
function describeAttributes(attributes: Readonly<Record<string, AttributeSource>>) {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, attribute]) => {
      if (attribute.type !== 'relation') return [name, attribute]
      const targetAttribute = attribute.mappedBy ?? attribute.inversedBy ?? null
      return [name, { required: false, private: false, ...attribute, targetAttribute }]
    }),
  )
}
