// `sort` in all its forms becomes a list of keys: `a:desc,b`, lists, `sort[a]=desc`, nested objects, dot paths.
import { invalidKey, validationError } from '../../foundation/errors/errors.js'
import type { Schema } from '../../model/schema/types.js'
import type { SortKey } from '../request.js'
import { isObject } from './parameters.js'
import type { Resolver } from './resolve.js'
import { chargeNode, deferError, enterTarget, findComparable, getRank, getTarget, mayTraverse, splitPath } from './resolve.js'

const refuseOrder = (walk: Resolver): void =>
  deferError(walk, getRank(walk, 'sort'), validationError('Invalid order. order can only be one of asc|desc|ASC|DESC'))

/**
 * Reads a `sort` parameter of `shape`.
 * @throws ApiError 400 for names that do not exist or may not be seen, and for orders other than asc and desc.
 */
export function readSort(walk: Resolver, shape: Schema, node: unknown): readonly SortKey[] {
  if (node === undefined || node === null || node === '') return []
  if (typeof node === 'string') return node.split(',').flatMap((entry) => readEntry(walk, shape, entry))
  if (Array.isArray(node)) {
    // A list has either texts or objects: a mixed one is read as an object with numbers as keys.
    if (new Set(node.map((entry) => typeof entry)).size > 1) throw invalidKey(walk.param, '0', null)
    // As in Strapi, a nested list has no effect, nor has a list instead of an order.
    return node.flatMap((entry) => (Array.isArray(entry) ? [] : readSort(walk, shape, entry)))
  }
  if (isObject(node)) return readObject({ ...walk, root: shape }, shape, node, [], [])
  throw validationError('Invalid sort parameter. Expected a string, an array of strings, a sort object or an array of sort objects')
}

/** `author.name:desc` → its path and its order. */
function readEntry(walk: Resolver, shape: Schema, entry: string): readonly SortKey[] {
  if (entry.trim() === '') return []
  const [names = '', order] = entry.split(':')
  let node: unknown = order === undefined ? undefined : order.trim() === '' ? ':' : order.trim()
  const path = splitPath(names)
  if (path.length === 0) return []
  if (path.some((name) => name in Object.prototype)) {
    deferError(walk, getRank(walk, 'sort'), validationError('Invalid sort query'))
    return []
  }
  for (const name of path.toReversed()) node = { [name]: node }
  return readObject({ ...walk, root: shape }, shape, node as Readonly<Record<string, unknown>>, [], [])
}

/** Types with Draft & Publish accept `status` with any order, as Strapi's panel sends it: all rows of a list have the same status. */
const isStatus = ({ root }: Sorting, shape: Schema, name: string, order: unknown): boolean =>
  name === 'status' && (order ?? '') !== '' && root.kind === 'contentType' && root.draftAndPublish && !shape.attributes.has(name)

/** A walk through sort keys, and the type or component at its start. */
interface Sorting extends Resolver {
  readonly root: Schema
}

function readObject(
  walk: Sorting,
  shape: Schema,
  node: Readonly<Record<string, unknown>>,
  names: readonly string[],
  path: SortKey['path'],
): readonly SortKey[] {
  return Object.entries(node).flatMap(([name, value]) => {
    chargeNode(walk)
    if (isStatus(walk, shape, name, value)) return []
    const attribute = findComparable(walk, shape, name, names, 'order')
    if (attribute === null) return []
    const here = [...names, name]
    if (value === '' || Array.isArray(value) || (attribute.kind === 'scalar' && value === null)) return []
    if (attribute.kind === 'scalar') {
      return [{ path, attribute, descending: isDescending(walk, value, here) }]
    }
    const target = getTarget(walk.model, attribute)
    if (isObject(value)) {
      const keys = readObject(enterTarget(walk, attribute, target), target, value, here, [...path, { attribute, target }])
      return walk.dropsRestricted && !mayTraverse(walk, attribute) ? [] : keys
    }
    if (value === undefined || value === null) throw invalidKey(walk.param, name, here.join('.'))
    // A text after a relation is the name of one of its attributes.
    const key = String(value)
    findComparable(enterTarget(walk, attribute, target), target, key, here, 'order')
    refuseOrder(walk)
    return []
  })
}

function isDescending(walk: Resolver, value: unknown, path: readonly string[]): boolean {
  if (value === undefined || value === null) return false
  if (isObject(value)) {
    const [key = ''] = Object.keys(value)
    if (key.startsWith('$')) refuseOrder(walk)
    else throw invalidKey(walk.param, key, path.join('.'))
    return false
  }
  const order = String(value).toLowerCase()
  if (order !== 'asc' && order !== 'desc') refuseOrder(walk)
  return order === 'desc'
}
