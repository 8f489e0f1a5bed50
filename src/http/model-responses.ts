// The content model and its changes in responses, in the form of Strapi's content-type builder. Both APIs use it.
import type { IncomingHttpHeaders } from 'node:http'
import type { Config } from '../foundation/config/config.js'
import { ApiError } from '../foundation/errors/errors.js'
import type { AttributeSource, Component, ContentType, Model } from '../model/schema/types.js'
import type { ChangeResult, PlannedChange } from '../project/model-changes/change.js'
import type { ListedChange } from '../project/model-changes/change-log.js'

/** The content that a request agrees to hide, by the header `octavo-agree`. */
export const readAgreement = ({ headers }: { readonly headers: IncomingHttpHeaders }): ReadonlySet<string> =>
  new Set(
    String(headers['octavo-agree'] ?? '')
      .split(',')
      .map((name) => name.trim()),
  )

/** @throws ApiError 403 where the model is locked */
export function refuseLocked({ modelChanges }: Pick<Config, 'modelChanges'>): void {
  if (!modelChanges) throw new ApiError('ForbiddenError', 'The model is locked: the setting admin.model of octavo.config unlocks it')
}

/** A change or planned change in a response. */
export const withPlan = ({ version, plan }: ChangeResult | PlannedChange) => ({ version, ...plan })

/** A past change in a response. */
export const formatChange = ({ madeAt, ...change }: ListedChange) => ({ ...change, madeAt: new Date(madeAt).toISOString() })

/** A content-type as the content-type builder shows it. */
export function describeType(type: ContentType) {
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

/** A component as the content-type builder shows it. */
export function describeComponent(component: Component) {
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

/** All content-types but those of administrators. */
export const describeTypes = ({ types }: Model) => [...types.values()].filter(({ uid }) => !uid.startsWith('admin::')).map(describeType)

export const describeComponents = ({ components }: Model) => [...components.values()].map(describeComponent)

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
