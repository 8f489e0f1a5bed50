// The components that an attribute may hold.
import type { Attribute, Component, Model, Schema } from './types.js'

/** The component of a component attribute, those of a dynamic zone, none of any other. */
export function componentsOf(model: Model, attribute: Attribute): readonly Component[] {
  if (attribute.kind === 'component') return [model.components.get(attribute.component)!]
  return attribute.kind === 'dynamiczone' ? attribute.components.map((uid) => model.components.get(uid)!) : []
}

/** A shape and all components below it. */
export function shapesBelow(model: Model, shape: Schema): readonly Schema[] {
  const found = new Set<Schema>([shape])
  for (const one of found)
    for (const attribute of one.attributes.values()) for (const component of componentsOf(model, attribute)) found.add(component)
  return [...found]
}
