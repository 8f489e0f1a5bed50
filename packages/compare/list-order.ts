// The order of lists: which differences come from equal sort keys, and by which attribute Strapi sorts although the request does not.
import type { Difference } from './difference.js'
import { documentsOf, type ResponsePair, sortKeys } from './pair.js'

type ListedDocument = Readonly<Record<string, unknown>>

/**
 * Whether a list differs only in what no order decides. Strapi writes no order where a request has none, and none between equal sort keys;
 * documents with equal keys at the end of a page then are on different pages.
 */
export function isFreeOrder({ kind, path }: Difference, pair: ResponsePair): boolean {
  const isWhole = path.length === 0 || (path.length === 1 && path[0] === 'data')
  const isDocument = path.length === 2 && path[0] === 'data' && typeof path[1] === 'number'
  if (sortKeys(pair).length > 0) return (isWhole || isDocument) && ['order', 'missing', 'added'].includes(kind) && hasEqualKeys(pair)
  return kind === 'order' && isWhole && ownOrderOf(pair) === null
}

/** Whether both lists have the same sequence of sort keys, so that only documents with equal ones can have changed places. */
function hasEqualKeys(pair: ResponsePair): boolean {
  const keys = sortKeys(pair)
  const valuesOf = (document: ListedDocument) => keys.map((key) => at(document, key))
  const [theirs, ours] = [documentsOf(pair.strapi).map(valuesOf), documentsOf(pair.octavo).map(valuesOf)]
  return JSON.stringify(theirs) === JSON.stringify(ours) && theirs.every((values) => !values.includes(undefined))
}

const at = (value: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((found, key) => (typeof found === 'object' && found !== null ? (found as ListedDocument)[key] : undefined), value)

/** Shorter lists follow an attribute by chance. */
const shortest = 4

/** The order of Strapi's list, as a sort parameter, if the request has none and Octavo's list does not follow it; null otherwise. */
export function ownOrderOf(pair: ResponsePair): string | null {
  const [theirs, ours] = [documentsOf(pair.strapi), documentsOf(pair.octavo)]
  if (sortKeys(pair).length > 0 || theirs.length < shortest) return null
  for (const key of Object.keys(theirs[0]!))
    for (const direction of ['asc', 'desc'] as const)
      if (follows(theirs, key, direction) && !follows(ours, key, direction)) return `${key}:${direction}`
  return null
}

function follows(documents: readonly ListedDocument[], key: string, direction: 'asc' | 'desc'): boolean {
  const all = documents.map((document) => document[key])
  const values: readonly unknown[] = all.filter((value) => value !== null)
  // Databases put null first or last, together in any case.
  const isTogether =
    all.slice(0, values.length).every((value) => value !== null) || all.slice(-values.length).every((value) => value !== null)
  const isComparable = ['string', 'number'].some((type) => values.every((value) => typeof value === type))
  if (values.length < shortest || !isTogether || !isComparable) return false
  const sorted = values as readonly string[]
  const isSorted = sorted.every(
    (value, index) => index === 0 || (direction === 'asc' ? sorted[index - 1]! <= value : sorted[index - 1]! >= value),
  )
  // A constant is sorted in any case.
  return isSorted && sorted[0] !== sorted.at(-1)
}
