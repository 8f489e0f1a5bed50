// Which schemas hold a component, also within other components.
import type { Attribute, Model, Schema } from '../schema/types.js'
import { componentsOf } from './entries.js'

/** Whether the entries of an attribute may contain a component. */
export function reaches(attribute: Attribute, uid: string, model: Model, seen = new Set<string>()): boolean {
  return componentsOf(attribute).some((each) => {
    if (each === uid) return true
    if (seen.has(each)) return false
    seen.add(each)
    return [...(model.components.get(each)?.attributes.values() ?? [])].some((nested) => reaches(nested, uid, model, seen))
  })
}

/** Whether rows of a schema may hold a component. */
export const reachesComponent = ({ attributes }: Schema, uid: string, model: Model): boolean =>
  [...attributes.values()].some((attribute) => reaches(attribute, uid, model))
