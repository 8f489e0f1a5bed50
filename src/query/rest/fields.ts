// `fields` becomes the scalars of one level of the response. id and documentId are always included.
import { invalidKey, validationError } from '../../foundation/errors/errors.js'
import type { Scalar, Schema } from '../../model/schema/types.js'
import type { SortKey } from '../request.js'
import type { Resolver } from './resolve.js'
import { deferError, forbid, getRank, isPublic, isReadable } from './resolve.js'

/** All scalars that a caller sees without `fields`, in the order of the model. */
export function readableFields(walk: Resolver, shape: Schema): readonly Scalar[] {
  return [...shape.attributes.values()].filter(walk.seen === null ? isPublic : (attribute) => isReadable(walk, attribute)) as Scalar[]
}

/** All scalars of a level that callers of the content API see. */
export const publicFields = (shape: Schema): readonly Scalar[] => [...shape.attributes.values()].filter(isPublic)

/**
 * Reads a `fields` parameter of `shape`: `*`, `a,b`, or a list of names.
 * @throws ApiError 400 for names that are not readable scalars.
 */
export function readFields(walk: Resolver, shape: Schema, node: unknown): readonly Scalar[] {
  if (node === undefined || node === null) return readableFields(walk, shape)
  const names = typeof node === 'string' ? node.split(',') : node
  const refused = () => deferError(walk, getRank(walk, 'fields'), malformedFields())
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
      for (const part of name.split(',')) checkName(walk, shape, part.trim())
      refused()
      continue
    }
    wanted.add(checkName(walk, shape, name.trim()))
  }
  const fields = readableFields(walk, shape)
  return wanted.has('*') ? fields : fields.filter(({ name }) => name === 'id' || name === 'documentId' || wanted.has(name))
}

/** The fields, and the rows' own attributes among the sort keys. */
export function withSorted(walk: Resolver, shape: Schema, fields: readonly Scalar[], sort: readonly SortKey[]): readonly Scalar[] {
  const sorted = sort.filter(({ path, attribute }) => path.length === 0 && !fields.includes(attribute)).map(({ attribute }) => attribute)
  return sorted.length === 0 ? fields : readableFields(walk, shape).filter((field) => fields.includes(field) || sorted.includes(field))
}

const malformedFields = () => validationError('Invalid fields parameter. Expected a string or an array of strings')

function checkName(walk: Resolver, shape: Schema, name: string): string {
  if (name === '*') return name
  const attribute = shape.attributes.get(name)
  if (attribute === undefined) {
    const unknown = invalidKey(walk.param, name, null)
    if (!(name in Object.prototype)) throw unknown
    deferError(walk, getRank(walk, 'fields'), unknown)
    return name
  }
  const forbidden = invalidKey(walk.param, name, name)
  if (attribute.kind !== 'scalar') throw forbidden
  if (walk.seen === null ? !isPublic(attribute) : !isReadable(walk, attribute)) forbid(walk, attribute, forbidden)
  return name
}
