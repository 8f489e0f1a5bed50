// Differences between two JSON values. List entries are matched by id, so that one additional document is one difference.
import { ConfigError } from '../../src/foundation/errors/errors.js'

/** Keys and list indexes that lead to a value. */
export type JsonPath = readonly (string | number)[]

/** A difference, with the number of its occurrences. */
export interface Difference {
  /** `missing` and `added` are from Octavo's point of view; `order`: the same entries in another order. */
  readonly kind: 'status' | 'header' | 'missing' | 'added' | 'value' | 'order'
  /** The first occurrence. */
  readonly path: JsonPath
  /** All occurrences as a pattern: `data[*].tags[*].name`. */
  readonly pattern: string
  readonly count: number
  /** Values of the first occurrence; for `order`, the ids of entries. */
  readonly strapi: unknown
  readonly octavo: unknown
}

/** Maximum number of distinct patterns. */
const maxPatterns = 50

type Add = (kind: Difference['kind'], path: JsonPath, strapi: unknown, octavo: unknown) => void

/** Collects differences, grouped by pattern. */
export function createDifferences(): { readonly add: Add; list(): readonly Difference[] } {
  const found = new Map<string, Difference>()
  return {
    add(kind, path, strapi, octavo) {
      const pattern = toPattern(path)
      const key = `${kind} ${pattern}`
      const known = found.get(key)
      if (known !== undefined) found.set(key, { ...known, count: known.count + 1 })
      else if (found.size < maxPatterns) found.set(key, { kind, path, pattern, count: 1, strapi, octavo })
    },
    list: () => [...found.values()],
  }
}

/** Adds the differences between two values, without the paths that `isIgnored` accepts. */
export function compareValues(
  strapi: unknown,
  octavo: unknown,
  add: Add,
  isIgnored: (path: JsonPath) => boolean,
  path: JsonPath = [],
): void {
  if (strapi === octavo || isIgnored(path)) return
  if (Array.isArray(strapi) && Array.isArray(octavo)) compareLists(strapi, octavo, add, isIgnored, path)
  else if (isRecord(strapi) && isRecord(octavo)) {
    for (const key of new Set([...Object.keys(strapi), ...Object.keys(octavo)])) {
      const below = [...path, key]
      if (isIgnored(below)) continue
      if (!Object.hasOwn(octavo, key)) add('missing', below, strapi[key], undefined)
      else if (!Object.hasOwn(strapi, key)) add('added', below, undefined, octavo[key])
      else compareValues(strapi[key], octavo[key], add, isIgnored, below)
    }
  } else if (!isSameAddress(strapi, octavo)) add('value', path, strapi, octavo)
}

function compareLists(
  strapi: readonly unknown[],
  octavo: readonly unknown[],
  add: Add,
  isIgnored: (path: JsonPath) => boolean,
  path: JsonPath,
): void {
  const [theirs, ours] = getListKeys(strapi, octavo)
  const places = new Map(ours.map((key, place) => [key, place]))
  const common = theirs.filter((key) => places.has(key))
  for (const [place, key] of theirs.entries()) {
    const other = places.get(key)
    if (other === undefined) add('missing', [...path, place], strapi[place], undefined)
    else compareValues(strapi[place], octavo[other], add, isIgnored, [...path, place])
  }
  const known = new Set(theirs)
  for (const [place, key] of ours.entries()) if (!known.has(key)) add('added', [...path, place], undefined, octavo[place])
  const inOrder = ours.filter((key) => known.has(key))
  if (common.some((key, index) => key !== inOrder[index])) add('order', path, common, inOrder)
}

/** Keys that match the entries of two lists: ids if all entries have one, otherwise positions. */
function getListKeys(strapi: readonly unknown[], octavo: readonly unknown[]): readonly [readonly string[], readonly string[]] {
  const all = [...strapi, ...octavo]
  const identity = identities.find((identify) => all.every((entry) => isRecord(entry) && identify(entry) !== null))
  const keys = (list: readonly unknown[]): readonly string[] => {
    if (identity === undefined) return list.map((_, place) => String(place))
    const seen = new Map<string, number>()
    return list.map((entry) => {
      const key = identity(entry as Record<string, unknown>)!
      const times = (seen.get(key) ?? 0) + 1
      seen.set(key, times)
      return times === 1 ? key : `${key} (${times})`
    })
  }
  return [keys(strapi), keys(octavo)]
}

type IdentityOf = (entry: Readonly<Record<string, unknown>>) => string | null

const isId = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number'

/** Identity of an entry: document id and locale, or row id and component. */
const identities: readonly IdentityOf[] = [
  ({ documentId, locale, __type }) =>
    isId(documentId) ? [__type, documentId, locale].filter((part) => typeof part === 'string').join(' ') : null,
  ({ id, __component }) => (isId(id) ? `${typeof __component === 'string' ? `${__component} ` : ''}${id}` : null),
]

/** True for objects, except arrays. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Parameters of signed URLs. */
const signature = /[?&](?:expires|signature|X-Amz-[\w-]+)=[^&#\s]*/gi

/** True if two texts differ only in the signature of a URL. */
const isSameAddress = (strapi: unknown, octavo: unknown): boolean =>
  typeof strapi === 'string' && typeof octavo === 'string' && withoutSignature(strapi) === withoutSignature(octavo)

const withoutSignature = (text: string): string => (text.includes('=') ? text.replace(signature, '') : text)

/** A path as text: `data[0].tags[2].name`. */
export const formatPath = (path: JsonPath): string =>
  path.map((key, index) => (typeof key === 'number' ? `[${key}]` : formatKey(key, index))).join('')

const toPattern = (path: JsonPath): string => path.map((key, index) => (typeof key === 'number' ? '[*]' : formatKey(key, index))).join('')

const formatKey = (key: string, index: number): string =>
  /^[\w$-]+$/.test(key) ? `${index === 0 ? '' : '.'}${key}` : `[${JSON.stringify(key)}]`

/** Parses patterns. A single name matches at any depth; `*` matches one key or index, `**` any number. @throws ConfigError */
export function parseIgnoredPaths(patterns: readonly string[]): (path: JsonPath) => boolean {
  const names = new Set<string>()
  const forms: RegExp[] = []
  for (const pattern of patterns.flatMap((each) => each.split(','))) {
    const parts = pattern
      .trim()
      .replace(/\[(\*|\d+)\]/g, '.$1')
      .split('.')
    if (parts.some((part) => part === '')) throw new ConfigError(`--ignore "${pattern}" is not a path like data.*.updatedAt.`)
    if (parts.length === 1 && parts[0] !== '*' && parts[0] !== '**') names.add(parts[0]!)
    else forms.push(toExpression(parts))
  }
  if (names.size === 0 && forms.length === 0) return () => false
  return (path) => {
    if (path.length === 0) return false
    if (names.has(String(path.at(-1)))) return true
    const whole = `${path.join('\0')}\0`
    return forms.some((form) => form.test(whole))
  }
}

function toExpression(parts: readonly string[]): RegExp {
  const source = parts.map((part) =>
    part === '**' ? '(?:[^\\0]+\\0)*' : `${part === '*' ? '[^\\0]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\0`,
  )
  return new RegExp(`^${source.join('')}$`)
}
