// What errors about a stored document show of it: nothing that the caller could not read.
import { type AttributeGrants, type Grants, grantedBelow, isGranted, noAttributes } from '../../../foundation/grants.js'
import { componentsOf } from '../../../model/schema/components.js'
import type { Attribute, ContentType, Model, Schema } from '../../../model/schema/types.js'
import type { AttributeError, ValuePath } from './types.js'

/** Who is told what is wrong with a draft. */
export interface Reader {
  readonly grants: Grants
  /** The caller may read drafts of the type. */
  readonly seesDrafts: boolean
}

/** The errors without values that the reader may not see: private attributes, passwords, relations to hidden types, closed drafts. */
export function shownErrors(model: Model, type: ContentType, errors: readonly AttributeError[], reader: Reader): readonly AttributeError[] {
  return errors.map((error) => {
    if (error.value === undefined || error.value === null) return error
    const { shapes, isHidden, seen } = placeOf(model, type, error.path, reader)
    if (isHidden || !reader.seesDrafts) return { path: error.path, message: withoutValue(error.message) }
    return { ...error, value: visible(model, error.value, shapes, seen, reader) }
  })
}

/** Messages about types end with the value that was found. */
function withoutValue(message: string): string {
  const at = message.indexOf(', but the final value was: ')
  return at === -1 ? message : `${message.slice(0, at)}.`
}

/** `seen`: the attributes that the reader may see beside it; null: all that are not private. */
const isSecret = (attribute: Attribute, seen: AttributeGrants | null, { grants }: Reader): boolean =>
  (seen === null ? attribute.private : !isGranted(seen, attribute.name)) ||
  (attribute.kind === 'scalar' && attribute.type === 'password') ||
  (attribute.kind === 'relation' && (!grants.may(`${attribute.target}.find`) || grants.scopes.has(attribute.target)))

/** The components that a value at `path` may be of, and whether something on the way there is secret. */
function placeOf(model: Model, type: ContentType, path: ValuePath, reader: Reader) {
  const { content } = reader.grants
  let shapes: readonly Schema[] = [type]
  let seen = content === undefined ? null : (content.readable.get(type.uid) ?? noAttributes)
  let isHidden = false
  for (const name of path) {
    if (typeof name === 'number') continue
    const attributes = shapes.map((shape) => shape.attributes.get(name)).filter((attribute) => attribute !== undefined)
    const here = seen
    isHidden ||= attributes.some((attribute) => isSecret(attribute, here, reader))
    seen = below(seen, name)
    shapes = attributes.flatMap((attribute) => componentsOf(model, attribute))
  }
  return { shapes, isHidden, seen }
}

const below = (seen: AttributeGrants | null, name: string): AttributeGrants | null => (seen === null ? null : grantedBelow(seen, name))

/** A value of one of `shapes`, or a list of such, without what is secret. */
function visible(model: Model, value: unknown, shapes: readonly Schema[], seen: AttributeGrants | null, reader: Reader): unknown {
  if (Array.isArray(value)) return value.map((one) => visible(model, one, shapes, seen, reader))
  if (typeof value !== 'object' || value === null || shapes.length === 0) return value
  const { __component: named } = value as { readonly __component?: unknown }
  const shape = shapes.find(({ uid }) => uid === named) ?? shapes[0]!
  const members = Object.entries(value).flatMap(([name, inner]) => {
    const attribute = shape.attributes.get(name)
    if (attribute === undefined) return [[name, inner]]
    if (isSecret(attribute, seen, reader)) return []
    return [[name, visible(model, inner, componentsOf(model, attribute), below(seen, name), reader)]]
  })
  return Object.fromEntries(members)
}
