// Checks an administrator's rights to attributes, including those in components.
import { validationError } from '../../../foundation/errors/errors.js'
import { type AttributeGrants, grantedBelow, isGranted } from '../../../foundation/grants.js'
import { isTooDeep } from '../../../foundation/runtime/json-structure.js'
import type { ContentType, Model, Schema } from '../../../model/schema/types.js'
import { isObject } from '../../../query/request.js'
import { isWritable, refusal } from './keys.js'
import type { Body } from './types.js'

/**
 * Checks the keys of `data` against the writable attributes; `checkKeys` reports unknown keys.
 * @throws ApiError 400 `Invalid key …` for the first attribute that is not writable
 */
export function checkWritable(
  model: Model,
  type: ContentType,
  data: unknown,
  writable: AttributeGrants,
  addedByHooks: ReadonlySet<string>,
): void {
  if (isTooDeep(data)) throw validationError('The data is nested too deeply')
  if (writable === 'all' || !isObject(data)) return
  const given = Object.fromEntries(Object.entries(data).filter(([key]) => !addedByHooks.has(key)))
  checkEntry(model, type, given, writable, null)
}

function checkEntry(model: Model, shape: Schema, body: Body, writable: AttributeGrants, parent: string | null): void {
  for (const [key, value] of Object.entries(body)) {
    const attribute = shape.attributes.get(key)
    if (!isWritable(shape, attribute)) continue
    const path = parent === null ? key : `${parent}.${key}`
    if (!isGranted(writable, key)) throw refusal('forbidden', key, path)
    const below = grantedBelow(writable, key)
    if (attribute.kind !== 'component' || below === 'all') continue
    // A right to part of a component does not include its removal.
    if (value === null) throw refusal('forbidden', key, path)
    const component = model.components.get(attribute.component)!
    for (const entry of Array.isArray(value) ? value : [value]) if (isObject(entry)) checkEntry(model, component, entry, below, path)
  }
}

/**
 * Checks `data` against the stored row: a right to part of a component does not permit removing its entries. `row`: the written version,
 * with its components.
 * @throws ApiError 400 `Invalid key …` for the first attribute that would lose an entry
 */
export function checkKept(model: Model, type: ContentType, data: unknown, row: Body, writable: AttributeGrants): void {
  if (writable !== 'all' && isObject(data)) checkEntriesKept(model, type, data, row, writable, null)
}

function checkEntriesKept(model: Model, shape: Schema, body: Body, row: Body, writable: AttributeGrants, parent: string | null): void {
  for (const [key, value] of Object.entries(body)) {
    const attribute = shape.attributes.get(key)
    const below = grantedBelow(writable, key)
    if (attribute?.kind !== 'component' || below === 'all') continue
    const path = parent === null ? key : `${parent}.${key}`
    const given = new Map(listOf(value).map((entry) => [String(entry.id), entry]))
    for (const entry of listOf(row[key])) {
      const kept = given.get(String(entry.id))
      if (kept === undefined) throw refusal('forbidden', key, path)
      checkEntriesKept(model, model.components.get(attribute.component)!, kept, entry, below, path)
    }
  }
}

const listOf = (value: unknown): readonly Body[] => (Array.isArray(value) ? value : [value]).filter(isObject)
