// Content-types and components in the form of Strapi's content-type builder.
import type { AttributeSource, Component, ContentType, Model } from '../model/schema/types.js'

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

/** All components. */
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
