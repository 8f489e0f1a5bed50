// The components that an attribute may hold.
import type { Attribute, Component, Model } from './types.js'

/** The component of a component attribute, those of a dynamic zone, none of any other. */
export function componentsOf(model: Model, attribute: Attribute): readonly Component[] {
  if (attribute.kind === 'component') return [model.components.get(attribute.component)!]
  return attribute.kind === 'dynamiczone' ? attribute.components.map((uid) => model.components.get(uid)!) : []
}
