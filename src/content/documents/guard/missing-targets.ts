// Finds missing documents that a body references. As in Strapi, they are reported before all other errors.
import { fileType } from '../../../model/schema/link.js'
import type { Attribute, Component, ContentType, Model, Schema } from '../../../model/schema/types.js'
import { isObject } from '../../../query/request.js'
import { checkKeys, type WriteAccess } from '../input/keys.js'
import { namesTargets, relationForm, relationInput, toSibling } from '../input/relations.js'
import type { Body, Reference } from '../input/types.js'
import type { RowContext } from '../store/row-context.js'
import { resolveReferences } from '../store/targets.js'

/**
 * Looks up the documents referenced by the data of a write, in order; row ids are checked by the write.
 * @throws ApiError 400 for invalid keys, then for the first missing document
 */
export async function checkTargetsExist(
  writing: RowContext,
  operation: WriteAccess & { readonly write: { readonly type: ContentType }; readonly data: unknown },
): Promise<void> {
  const { data } = operation
  const { type } = operation.write
  checkKeys(writing.model, operation, type, data)
  if (isObject(data)) await checkBelow(writing, type, data)
}

async function checkBelow(writing: RowContext, shape: Schema, body: Body): Promise<void> {
  for (const [name, value] of Object.entries(body)) {
    const attribute = shape.attributes.get(name)
    if (attribute === undefined || value === undefined) continue
    for (const [component, entry] of getComponentEntries(writing.model, attribute, value)) await checkBelow(writing, component, entry)
    const target = getTargetType(writing.model, attribute)
    if (target !== undefined) await resolveReferences(writing, target, getDocumentReferences(value, attribute))
  }
}

/** Entries of components in a value. */
export function getComponentEntries(model: Model, attribute: Attribute, value: unknown): readonly (readonly [Component, Body])[] {
  if (attribute.kind !== 'component' && attribute.kind !== 'dynamiczone') return []
  return (Array.isArray(value) ? value : [value]).filter(isObject).flatMap((entry) => {
    const named = attribute.kind === 'component' ? attribute.component : entry.__component
    const component = typeof named === 'string' ? model.components.get(named) : undefined
    return component === undefined ? [] : [[component, entry] as const]
  })
}

/** Target type of an attribute's links; undefined without links, or if each link names its type. */
export function getTargetType(model: Model, attribute: Attribute): ContentType | undefined {
  if (attribute.kind === 'media') return model.types.get(fileType)
  return attribute.kind === 'relation' || attribute.kind === 'morphFrom' ? model.types.get(attribute.target) : undefined
}

/** References in a relation; empty if an entry has no target. */
export function getReferences(value: unknown, attribute: Attribute): readonly Reference[] {
  const form = relationForm(value, attribute)
  if (!namesTargets(form)) return []
  return [form.set, form.disconnect, form.connect].flatMap((entries = []) => relationInput({ connect: entries }).connect)
}

/** Documents referenced by a relation in the order of their errors, each before its neighbour. */
function getDocumentReferences(value: unknown, attribute: Attribute): readonly Reference[] {
  return getReferences(value, attribute).flatMap((reference) => {
    const neighbour = reference.position?.before ?? reference.position?.after
    const beside = typeof neighbour === 'string' && !/^\d+$/.test(neighbour) ? [toSibling(reference, neighbour)] : []
    // As in Strapi, the neighbour of a row id is looked up by the write.
    return reference.documentId === undefined ? [] : [reference, ...beside]
  })
}
