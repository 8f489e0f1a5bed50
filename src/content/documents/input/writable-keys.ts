// Checks an administrator's rights to attributes, including those in components.
import { validationError } from '../../../foundation/errors/errors.js'
import { type AttributeGrants, grantedBelow, isGranted } from '../../../foundation/grants.js'
import { isTooDeep } from '../../../foundation/runtime/json-structure.js'
import type { Attribute, ContentType, Model, Schema } from '../../../model/schema/types.js'
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
    if (!isGranted(writable, key)) {
      // The value that a new entry has without it, as when a removal is undone.
      if (parent !== null && body.id === undefined && isUnset(attribute, value)) continue
      throw refusal('forbidden', key, path)
    }
    const below = grantedBelow(writable, key)
    if (attribute.kind !== 'component' || below === 'all') continue
    const component = model.components.get(attribute.component)!
    for (const entry of Array.isArray(value) ? value : [value]) if (isObject(entry)) checkEntry(model, component, entry, below, path)
  }
}

/** True for the value of an attribute that was never written. Links and files are unset only where they are known to be none. */
const isUnset = (attribute: Attribute, value: unknown): boolean =>
  attribute.kind === 'scalar'
    ? JSON.stringify(value ?? null) === JSON.stringify(attribute.source.default ?? null)
    : value === null || (Array.isArray(value) && value.length === 0)

/**
 * Checks `data` against the stored row: a right to part of a component does not permit removing entries with values in other parts, or
 * with parts that are not readable, since a refusal would reveal their values. `row`: the written version, with its components.
 * @throws ApiError 400 `Invalid key …` for the first attribute that would lose an entry
 */
export function checkKept(model: Model, type: ContentType, data: unknown, row: Body, { writable, readable }: EntryGrants): void {
  if (isObject(data)) checkEntriesKept(model, type, data, row, { writable, readable }, null)
}

interface EntryGrants {
  readonly writable: AttributeGrants
  readonly readable: AttributeGrants
}

const grantsBelow = ({ writable, readable }: EntryGrants, key: string): EntryGrants => ({
  writable: grantedBelow(writable, key),
  readable: grantedBelow(readable, key),
})

function checkEntriesKept(model: Model, shape: Schema, body: Body, row: Body, granted: EntryGrants, parent: string | null): void {
  for (const [key, value] of Object.entries(body)) {
    const attribute = shape.attributes.get(key)
    const below = grantsBelow(granted, key)
    if (attribute?.kind !== 'component' || below.writable === 'all') continue
    const path = parent === null ? key : `${parent}.${key}`
    const given = new Map(listOf(value).map((entry) => [String(entry.id), entry]))
    for (const entry of listOf(row[key])) {
      const kept = given.get(String(entry.id))
      const component = model.components.get(attribute.component)!
      if (kept !== undefined) checkEntriesKept(model, component, kept, entry, below, path)
      else if (hasOtherValues(model, component, entry, below)) throw refusal('forbidden', key, path)
    }
  }
}

/** True if a stored entry has, or may have, values in parts that are not writable. */
function hasOtherValues(model: Model, shape: Schema, entry: Body, granted: EntryGrants): boolean {
  return [...shape.attributes].some(([key, attribute]) => {
    if (!isGranted(granted.writable, key)) return !isGranted(granted.readable, key) || !isUnset(attribute, entry[key])
    const below = grantsBelow(granted, key)
    if (attribute.kind !== 'component' || below.writable === 'all') return false
    return listOf(entry[key]).some((inner) => hasOtherValues(model, model.components.get(attribute.component)!, inner, below))
  })
}

const listOf = (value: unknown): readonly Body[] => (Array.isArray(value) ? value : [value]).filter(isObject)
