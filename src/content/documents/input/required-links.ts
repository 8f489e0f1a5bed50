// Required relations and files, where the project has them enforced (`api.documents.strictRelations`): which links a value leaves, and which
// a stored document lacks.

import { hiddenAttributes } from '../../../model/schema/conditions.js'
import { collectSchemas } from '../../../model/schema/graph.js'
import type { Attribute, Media, Model, MorphFrom, MorphTo, Relation, Schema } from '../../../model/schema/types.js'
import { wholeError } from './errors.js'
import { isWritable } from './keys.js'
import type { RelationForm } from './relations.js'
import type { AttributeError, Body, Checking, InputContext, ValuePath } from './types.js'

type Link = Relation | MorphTo | MorphFrom | Media

const isBody = (value: unknown): value is Body => typeof value === 'object' && value !== null && !Array.isArray(value)

/** True if links of an attribute can be required. The inverse side of a polymorphic relation stores none. */
export const isRequiredLink = ({ kind, required }: Attribute): boolean =>
  required && (kind === 'relation' || kind === 'media' || kind === 'morphTo')

const withRequiredLinks = new WeakMap<Schema, boolean>()

/** True if a shape or a component below it has required links. */
export function hasRequiredLinks(model: Model, shape: Schema): boolean {
  const known = withRequiredLinks.get(shape)
  if (known !== undefined) return known
  const has = collectSchemas(model, shape).some((one) =>
    [...one.attributes.values()].some((each) => isWritable(one, each) && isRequiredLink(each)),
  )
  withRequiredLinks.set(shape, has)
  return has
}

const withDraftTargets = new WeakMap<Schema, boolean>()

/** True if required relations of a shape, or of a component below it, have targets with Draft & Publish. */
export function leadsToDrafts(model: Model, shape: Schema): boolean {
  const known = withDraftTargets.get(shape)
  if (known !== undefined) return known
  const does = collectSchemas(model, shape).some((one) =>
    [...one.attributes.values()].some(
      (each) => each.kind === 'relation' && isRequiredLink(each) && model.types.get(each.target)?.draftAndPublish === true,
    ),
  )
  withDraftTargets.set(shape, does)
  return does
}

/** Errors of the links in a body, if the body alone shows them: `disconnect` depends on the stored links. */
export function checkRequiredLink(
  checking: Checking,
  attribute: Link,
  sent: unknown,
  form: RelationForm,
  path: ValuePath,
): AttributeError[] {
  if (checking.strictRelations !== true || checking.isDraft || !isRequiredLink(attribute)) return []
  if (sent === undefined) return checking.isCreation ? [undefinedLink(attribute, path)] : []
  const isLeft = form.set !== undefined ? form.set.length > 0 : (form.connect ?? []).length > 0 || !checking.isCreation
  return isLeft ? [] : [undefinedLink(attribute, path, sent === null ? null : form)]
}

/** As in Strapi, the message has the name alone, also inside of a component. */
const undefinedLink = ({ name }: Attribute, path: ValuePath, value?: unknown): AttributeError =>
  wholeError(path, `${name} must be defined.`, value)

/** The missing required links of a stored document, read with the extent `required` (`readWhole`). */
export function missingLinks({ model, strictRelations }: InputContext, shape: Schema, document: Body): readonly AttributeError[] {
  return strictRelations === true && hasRequiredLinks(model, shape) ? missingBelow(model, shape, document, []) : []
}

function missingBelow(model: Model, shape: Schema, body: Body, path: ValuePath): readonly AttributeError[] {
  const hidden = hiddenAttributes(shape, body)
  return [...shape.attributes.values()].flatMap((attribute) => {
    const { name } = attribute
    if (hidden.has(name) || !isWritable(shape, attribute)) return []
    if (isRequiredLink(attribute)) return missingLink(attribute as Link, body[name], [...path, name])
    if (attribute.kind !== 'component' && attribute.kind !== 'dynamiczone') return []
    return entriesOf(body[name], [...path, name]).flatMap(([entry, at]) => {
      const uid = attribute.kind === 'component' ? attribute.component : String(entry.__component)
      const component = model.components.get(uid)
      return component === undefined ? [] : missingBelow(model, component, entry, at)
    })
  })
}

function missingLink(attribute: Link, value: unknown, path: ValuePath): readonly AttributeError[] {
  const isThere = Array.isArray(value) ? value.length > 0 : isBody(value)
  return isThere ? [] : [undefinedLink(attribute, path, attribute.many ? { set: [] } : null)]
}

function entriesOf(value: unknown, path: ValuePath): readonly (readonly [Body, ValuePath])[] {
  if (Array.isArray(value)) return value.flatMap((entry, index) => (isBody(entry) ? [[entry, [...path, index]] as const] : []))
  return isBody(value) ? [[value, path]] : []
}
