// `sort` in all its forms becomes a list of keys: `a:desc,b`, lists, `sort[a]=desc`, nested objects, dot paths.
import { invalidKey, validationError } from '../../foundation/errors/errors.js'
import type { Schema } from '../../model/schema/types.js'
import type { SortKey } from '../request.js'
import { isObject } from './parameters.js'
import type { Resolver } from './resolve.js'
import { beyond, chargeNode, deferError, findComparable, isOpen, rankOf, stepsOf, targetOf } from './resolve.js'

const refuseOrder = (reading: Resolver): void =>
  deferError(reading, rankOf(reading, 'sort'), validationError('Invalid order. order can only be one of asc|desc|ASC|DESC'))

/**
 * Reads a `sort` parameter of `shape`.
 * @throws ApiError 400 for names that do not exist or may not be seen, and for other orders than asc and desc.
 */
export function readSort(reading: Resolver, shape: Schema, node: unknown): readonly SortKey[] {
  if (node === undefined || node === null || node === '') return []
  if (typeof node === 'string') return node.split(',').flatMap((entry) => readEntry(reading, shape, entry))
  if (Array.isArray(node)) {
    // A list holds either texts or objects: a mixed one is taken for an object with numbers as keys.
    if (new Set(node.map((entry) => typeof entry)).size > 1) throw invalidKey(reading.param, '0', null)
    // As in Strapi, a list inside has no effect, nor has one in place of an order.
    return node.flatMap((entry) => (Array.isArray(entry) ? [] : readSort(reading, shape, entry)))
  }
  if (isObject(node)) return readObject({ ...reading, root: shape }, shape, node, [], [])
  throw validationError('Invalid sort parameter. Expected a string, an array of strings, a sort object or an array of sort objects')
}

/** `author.name:desc` → its path and its order. */
function readEntry(reading: Resolver, shape: Schema, entry: string): readonly SortKey[] {
  if (entry.trim() === '') return []
  const [names = '', order] = entry.split(':')
  let node: unknown = order === undefined ? undefined : order.trim() === '' ? ':' : order.trim()
  const path = stepsOf(names)
  if (path.length === 0) return []
  if (path.some((name) => name in Object.prototype)) {
    deferError(reading, rankOf(reading, 'sort'), validationError('Invalid sort query'))
    return []
  }
  for (const name of path.toReversed()) node = { [name]: node }
  return readObject({ ...reading, root: shape }, shape, node as Readonly<Record<string, unknown>>, [], [])
}

/** Types with Draft & Publish take the name `status` with anything as its order, as Strapi's panel sends it: all rows of a list have the same. */
const isStatus = ({ root }: Sorting, shape: Schema, name: string, order: unknown): boolean =>
  name === 'status' && (order ?? '') !== '' && root.kind === 'contentType' && root.draftAndPublish && !shape.attributes.has(name)

/** A walk through sort keys, and the type or component that they begin at. */
interface Sorting extends Resolver {
  readonly root: Schema
}

function readObject(
  reading: Sorting,
  shape: Schema,
  node: Readonly<Record<string, unknown>>,
  names: readonly string[],
  path: SortKey['path'],
): readonly SortKey[] {
  return Object.entries(node).flatMap(([name, value]) => {
    chargeNode(reading)
    if (isStatus(reading, shape, name, value)) return []
    const attribute = findComparable(reading, shape, name, names, 'order')
    if (attribute === null) return []
    const here = [...names, name]
    if (value === '' || Array.isArray(value) || (attribute.kind === 'scalar' && value === null)) return []
    if (attribute.kind === 'scalar') {
      return [{ path, attribute, descending: isDescending(reading, value, here) }]
    }
    const target = targetOf(reading.model, attribute)
    if (isObject(value)) {
      const keys = readObject(beyond(reading, attribute, target), target, value, here, [...path, { attribute, target }])
      return reading.dropsRestricted && !isOpen(reading, attribute) ? [] : keys
    }
    if (value === undefined || value === null) throw invalidKey(reading.param, name, here.join('.'))
    // What stands behind a relation is taken for the name of one of its attributes.
    const key = String(value)
    findComparable(beyond(reading, attribute, target), target, key, here, 'order')
    refuseOrder(reading)
    return []
  })
}

function isDescending(reading: Resolver, value: unknown, path: readonly string[]): boolean {
  if (value === undefined || value === null) return false
  if (isObject(value)) {
    const [key = ''] = Object.keys(value)
    if (key.startsWith('$')) refuseOrder(reading)
    else throw invalidKey(reading.param, key, path.join('.'))
    return false
  }
  const order = String(value).toLowerCase()
  if (order !== 'asc' && order !== 'desc') refuseOrder(reading)
  return order === 'desc'
}
