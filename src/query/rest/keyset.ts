// A page by the row next to it: the values of its sort keys, understood by the types of their attributes.
import { validationError } from '../../foundation/errors/errors.js'
import type { Keyset, SortKey } from '../request.js'
import { bind, type Resolver } from './resolve.js'
import { readValue } from './values.js'

/** A page of a list, by the row next to it. */
export interface WantedKeyset {
  /** The values of the sort keys and the id of the row before the page, or behind it; null: there is none. */
  readonly position: { readonly values: readonly unknown[]; readonly id: number } | null
  readonly backwards: boolean
}

/** Types whose values have no order that a page could go on from. */
const unordered: ReadonlySet<string> = new Set(['json', 'blocks'])

/**
 * Reads where a page begins.
 * @throws ApiError 400 for values that are none of the sort keys, and for sort keys that have no order
 */
export function readKeyset(reading: Resolver, sort: readonly SortKey[], { position, backwards }: WantedKeyset): Keyset {
  const wrong = sort.find(({ attribute }) => unordered.has(attribute.type))
  if (wrong !== undefined) throw validationError(`Documents cannot be sorted by ${wrong.attribute.name} here`)
  if (position === null) return { position: null, backwards }
  if (position.values.length !== sort.length) throw validationError('The cursor is of another query')
  const values = sort.map(({ attribute }, index) => {
    const value = readValue(attribute, position.values[index], reading.contract.strictBooleans)
    return value === null ? null : bind(reading, value)
  })
  return { position: { values, id: bind(reading, position.id) }, backwards }
}
