// Paths of values such as `title`, `seo/metaTitle` and `extras/block.text#3/heading`: names of attributes and keys of entries.
import { type Entry, isKeyed, keyOf } from './values.js'

/** The names and keys of a path; the empty path is the document. */
export const splitPath = (path: string): readonly string[] => (path === '' ? [] : path.split('/'))

export const joinPath = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join('/')

/** The path of what contains the value. */
export const parentPath = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

/** The last name or key of a path. */
export const lastPart = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** True if `path` is `above` or below it. */
export const isWithin = (path: string, above: string): boolean => above === '' || path === above || path.startsWith(`${above}/`)

const positions = new WeakMap<readonly unknown[], ReadonlyMap<string, number>>()

/** Position of the item with a key; -1: there is none. */
export function indexOfKey(list: readonly unknown[], key: string): number {
  let found = positions.get(list)
  if (found === undefined) {
    found = new Map(list.map((item, index) => [keyOf(item) ?? '', index]))
    positions.set(list, found)
  }
  return found.get(key) ?? -1
}

function childAt(value: unknown, part: string): unknown {
  if (Array.isArray(value)) return value[indexOfKey(value, part)]
  return typeof value === 'object' && value !== null ? (value as Entry)[part] : undefined
}

/** The value at a path; undefined where the path leads nowhere. */
export function valueAt(root: unknown, path: string): unknown {
  return splitPath(path).reduce(childAt, root)
}

/** True if everything above the path exists. */
export const leadsSomewhere = (root: unknown, path: string): boolean => {
  const parent = valueAt(root, parentPath(path))
  return Array.isArray(parent) ? indexOfKey(parent, lastPart(path)) >= 0 : typeof parent === 'object' && parent !== null
}

/** A copy of the tree with a value at a path; undefined removes an item of a list. Paths that lead nowhere change nothing. */
export function withValueAt(root: unknown, path: string, value: unknown): unknown {
  const set = (at: unknown, parts: readonly string[]): unknown => {
    const [part, ...further] = parts
    if (part === undefined) return value
    if (Array.isArray(at)) {
      const index = indexOfKey(at, part)
      if (index < 0) return at
      const next = set(at[index], further)
      return next === undefined ? at.toSpliced(index, 1) : at.with(index, next)
    }
    return typeof at === 'object' && at !== null ? { ...at, [part]: set((at as Entry)[part], further) } : at
  }
  return set(root, splitPath(path))
}

/** Names in a path of the server that are no keys: positions, and `name` of entries. */
export interface ServerNames {
  /** The key of an entry by its name in a request or response, such as `#12`. */
  keyOfName(name: string): string | undefined
}

/**
 * The path of the form for a path of the server, whose lists have positions or names. What the form does not have is left out at the end,
 * so an error about a missing entry is at its list.
 */
export function placePath(root: unknown, serverPath: readonly (string | number)[], { keyOfName }: ServerNames): string {
  const parts: string[] = []
  let at = root
  for (const part of serverPath.map(String)) {
    if (isKeyed(at)) {
      const key = /^\d+$/.test(part) ? keyOf(at[Number(part)]) : (keyOfName(part) ?? part)
      if (key === undefined || indexOfKey(at, key) < 0) break
      parts.push(key)
      at = childAt(at, key)
      // The error is that of the whole relation.
      if (key.startsWith('@')) return parentPath(parts.join('/'))
    } else {
      // JSON, links and files have no fields.
      if (keyOf(at)?.startsWith('@') !== false) break
      parts.push(part)
      at = childAt(at, part)
    }
  }
  return parts.join('/')
}

/** The paths of all entries and attributes in the order of the document, for sorting errors. */
export function comparePaths(root: unknown, one: string, other: string): number {
  const [left, right] = [splitPath(one), splitPath(other)]
  let at = root
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const [a, b] = [left[index]!, right[index]!]
    if (a !== b) {
      if (Array.isArray(at)) return indexOfKey(at, a) - indexOfKey(at, b)
      const names = Object.keys((at ?? {}) as Entry)
      return names.indexOf(a) - names.indexOf(b)
    }
    at = childAt(at, a)
  }
  return left.length - right.length
}
