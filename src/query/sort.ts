// `sort` in all its forms becomes a list of keys: `a:desc,b`, lists, `sort[a]=desc`, nested objects, dot paths.
import type { ApiError } from '../errors.js'
import { invalidKey, validationError } from '../errors.js'
import type { Component, ContentType } from '../model/types.js'
import { isObject } from './parameters.js'
import type { Reading } from './reading.js'
import { findComparable, isOpen, spend, stepsOf, targetOf } from './reading.js'
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
  const path = stepsOf(names)
  if (path.length === 0) return []
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
    const attribute = findComparable(reading, shape, name, names, 'order')
    const here = [...names, name]
    if (value === '') return []
    if (attribute.kind === 'scalar') {
      return [{ path, attribute, descending: isDescending(reading, value, here) }]
    }
    const target = targetOf(reading.model, attribute)
    if (isObject(value)) {
      const keys = readObject(reading, target, value, here, [...path, { attribute, target }])
      return reading.dropsRestricted && !isOpen(reading, attribute) ? [] : keys
    }
    if (value === undefined || value === null) throw invalidKey(reading.param, name, here.join('.'))
    // What stands behind a relation is taken for the name of one of its attributes.
    const key = String(value)
    findComparable(reading, target, key, here, 'order')
    reading.late.push(invalidOrder())
    return []
  })
}

function isDescending(reading: Reading, value: unknown, path: readonly string[]): boolean {
  if (value === undefined || value === null) return false
  if (isObject(value)) {
    const [key = ''] = Object.keys(value)
    if (key.startsWith('$')) reading.late.push(invalidOrder())
    else throw invalidKey(reading.param, key, path.join('.'))
    return false
  }
  const order = String(value).toLowerCase()
  if (order !== 'asc' && order !== 'desc') reading.late.push(invalidOrder())
  return order === 'desc'
}
