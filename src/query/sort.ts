// `sort` in all its forms becomes a list of keys: `a:desc,b`, lists, `sort[a]=desc`, nested objects, dot paths.
import type { ApiError } from '../errors.js'
import { invalidKey, validationError } from '../errors.js'
import type { Component, ContentType } from '../model/types.js'
import { isObject } from './parameters.js'
import type { Reading } from './reading.js'
import { findComparable, spend, targetOf } from './reading.js'
import type { SortKey } from './request.js'

type Shape = ContentType | Component

const invalidOrder = (): ApiError => validationError('Invalid order. order can only be one of asc|desc|ASC|DESC')

/**
 * Reads a `sort` parameter of `shape`.
 * @throws ApiError 400 for names that do not exist or may not be seen, and for other orders than asc and desc.
 */
export function readSort(reading: Reading, shape: Shape, node: unknown): readonly SortKey[] {
  if (node === undefined || node === null || node === '') return []
  if (typeof node === 'string') return node.split(',').flatMap((entry) => readEntry(reading, shape, entry))
  if (Array.isArray(node)) return node.flatMap((entry) => readSort(reading, shape, entry))
  if (isObject(node)) return readObject(reading, shape, node, [], [])
  throw validationError('Invalid sort parameter. Expected a string, an array of strings, a sort object or an array of sort objects')
}

/** `author.name:desc` → its path and its order. */
function readEntry(reading: Reading, shape: Shape, entry: string): readonly SortKey[] {
  if (entry.trim() === '') return []
  const [names = '', order] = entry.split(':')
  let node: unknown = order === undefined ? undefined : order.trim() === '' ? ':' : order.trim()
  const path = names.trim().split('.')
  for (const name of path.toReversed()) node = { [name]: node }
  return readObject(reading, shape, node as Readonly<Record<string, unknown>>, [], [])
}

function readObject(
  reading: Reading,
  shape: Shape,
  node: Readonly<Record<string, unknown>>,
  names: readonly string[],
  path: SortKey['path'],
): readonly SortKey[] {
  return Object.entries(node).flatMap(([name, value]) => {
    spend(reading)
    const attribute = readName(reading, shape, name, value, names)
    const here = [...names, name]
    if (attribute.kind === 'scalar') {
      if (typeof value === 'object' && value !== null && names.length + 1 < here.length) throw invalidOrder()
      return [{ path, attribute, descending: readOrder(reading, attribute.name, value, here) }]
    }
    const target = targetOf(reading.model, attribute)
    if (isObject(value)) return readObject(reading, target, value, here, [...path, { attribute, target }])
    if (value === undefined || value === null || value === '') throw invalidKey(reading.param, name, here.join('.'))
    // What stands behind a relation is taken for the name of one of its attributes.
    const key = String(value)
    findComparable(reading, target, key, here)
    reading.late.push(invalidOrder())
    return []
  })
}

/** As findComparable, but `relation:desc` complains about `desc`, whoever may see the relation. */
function readName(reading: Reading, shape: Shape, name: string, value: unknown, names: readonly string[]) {
  const attribute = shape.attributes.get(name)
  const leads = attribute !== undefined && (attribute.kind === 'relation' || attribute.kind === 'morphFrom')
  if (leads && !attribute.private && typeof value === 'string' && value !== '' && !reading.model.types.get(attribute.target)!.attributes.has(value)) {
    throw invalidKey(reading.param, value, [...names, name].join('.'))
  }
  return findComparable(reading, shape, name, names)
}

function readOrder(reading: Reading, name: string, value: unknown, path: readonly string[]): boolean {
  if (value === undefined || value === null || value === '') return false
  if (isObject(value)) {
    const [key = ''] = Object.keys(value)
    if (key.startsWith('$')) reading.late.push(invalidOrder())
    else throw invalidKey(reading.param, key, path.join('.'))
    return false
  }
  const order = String(value).toLowerCase()
  if (order !== 'asc' && order !== 'desc') reading.late.push(invalidOrder())
  return order === 'desc' && name !== ''
}
