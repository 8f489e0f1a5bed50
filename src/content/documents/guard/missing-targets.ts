// Finds missing documents that a body references. As in Strapi, they are reported before all other errors.
import type { Transaction } from '../../../database/database.js'
import { fileType } from '../../../model/schema/link.js'
import type { Attribute, Component, ContentType, Model, Schema } from '../../../model/schema/types.js'
import { checkKeys, type WriteAccess } from '../input/keys.js'
import { namesTargets, relationForm, relationInput, toSibling } from '../input/relations.js'
import type { Body, Reference } from '../input/types.js'
import { resolveReferences, type TargetResolution } from '../store/targets.js'

const isBody = (value: unknown): value is Body => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Looks up the documents referenced by `data`, in order; row ids are checked by the write.
 * @throws ApiError 400 for invalid keys, then for the first missing document
 */
export async function checkTargetsExist(
  transaction: Transaction,
  model: Model,
  writer: WriteAccess,
  type: ContentType,
  data: unknown,
  resolving: TargetResolution,
): Promise<void> {
  checkKeys(model, writer, type, data)
  if (isBody(data)) await checkBelow(transaction, model, type, data, resolving)
}

async function checkBelow(transaction: Transaction, model: Model, shape: Schema, body: Body, resolving: TargetResolution): Promise<void> {
  for (const [name, value] of Object.entries(body)) {
    const attribute = shape.attributes.get(name)
    if (attribute === undefined || value === undefined) continue
    for (const [component, entry] of getComponentEntries(model, attribute, value))
      await checkBelow(transaction, model, component, entry, resolving)
    const target = getTargetType(model, attribute)
    if (target !== undefined) await resolveReferences(transaction, target, getDocumentReferences(value, attribute), resolving)
  }
}

/** Entries of components in a value. */
export function getComponentEntries(model: Model, attribute: Attribute, value: unknown): readonly (readonly [Component, Body])[] {
  if (attribute.kind !== 'component' && attribute.kind !== 'dynamiczone') return []
  return (Array.isArray(value) ? value : [value]).filter(isBody).flatMap((entry) => {
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
