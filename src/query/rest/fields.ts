// `fields` becomes the scalars of one level of the answer. id and documentId are always included.
import { invalidKey, validationError } from '../../foundation/errors/errors.js'
import type { Scalar, Schema } from '../../model/schema/types.js'
import type { SortKey } from '../request.js'
import type { Resolver } from './resolve.js'
import { deferError, forbid, isPublic, isReadable, rankOf } from './resolve.js'

/** All scalars that a caller sees when `fields` is absent, in the order of the model. */
export function readableFields(reading: Resolver, shape: Schema): readonly Scalar[] {
  return [...shape.attributes.values()].filter(reading.seen === null ? isPublic : (attribute) => isReadable(reading, attribute)) as Scalar[]
}

/** All scalars of a level that callers of the content API see. */
export const publicFields = (shape: Schema): readonly Scalar[] => [...shape.attributes.values()].filter(isPublic)

/**
 * Reads a `fields` parameter of `shape`: `*`, `a,b`, or a list of names.
 * @throws ApiError 400 for names that are no readable scalars.
 */
export function readFields(reading: Resolver, shape: Schema, node: unknown): readonly Scalar[] {
  if (node === undefined || node === null) return readableFields(reading, shape)
  const names = typeof node === 'string' ? node.split(',') : node
  const refused = () => deferError(reading, rankOf(reading, 'fields'), malformed())
  if (!Array.isArray(names)) {
    refused()
    return []
  }
  const wanted = new Set<string>()
  for (const name of names) {
    if (name === null) continue
    if (typeof name !== 'string') {
      refused()
      continue
    }
    if (typeof node !== 'string' && name.includes(',')) {
      for (const part of name.split(',')) check(reading, shape, part.trim())
      refused()
      continue
    }
    wanted.add(check(reading, shape, name.trim()))
  }
  const fields = readableFields(reading, shape)
  return wanted.has('*') ? fields : fields.filter(({ name }) => name === 'id' || name === 'documentId' || wanted.has(name))
}

/** The fields, and what the rows are sorted by where it is their own. */
export function withSorted(reading: Resolver, shape: Schema, fields: readonly Scalar[], sort: readonly SortKey[]): readonly Scalar[] {
  const sorted = sort.filter(({ path, attribute }) => path.length === 0 && !fields.includes(attribute)).map(({ attribute }) => attribute)
  return sorted.length === 0 ? fields : readableFields(reading, shape).filter((field) => fields.includes(field) || sorted.includes(field))
}

const malformed = () => validationError('Invalid fields parameter. Expected a string or an array of strings')

function check(reading: Resolver, shape: Schema, name: string): string {
  if (name === '*') return name
  const attribute = shape.attributes.get(name)
  if (attribute === undefined) {
    const unknown = invalidKey(reading.param, name, null)
    if (!(name in Object.prototype)) throw unknown
    deferError(reading, rankOf(reading, 'fields'), unknown)
    return name
  }
  const forbidden = invalidKey(reading.param, name, name)
  if (attribute.kind !== 'scalar') throw forbidden
  if (reading.seen === null ? !isPublic(attribute) : !isReadable(reading, attribute)) forbid(reading, attribute, forbidden)
  return name
}
