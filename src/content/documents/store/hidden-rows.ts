// Rows outside of the caller's scopes, as the writing of relations sees them: they cannot be named, and links to them stay.
import { forbidden } from '../../../foundation/errors/errors.js'
import type { ContentType } from '../../../model/schema/types.js'

/** Returns those of these rows that the caller's scopes hide. */
export type FindHidden = (type: ContentType, ids: readonly number[]) => Promise<ReadonlySet<number>>

/** Returns the rows that a caller may name. */
export async function withoutHidden<Row extends { readonly id: number }>(
  find: FindHidden,
  type: ContentType,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  if (rows.length === 0) return rows
  const hidden = await find(
    type,
    rows.map(({ id }) => id),
  )
  return hidden.size === 0 ? rows : rows.filter(({ id }) => !hidden.has(id))
}

/**
 * Returns the targets that a relation gets, with those of `present` that are hidden: nobody loses what they cannot see.
 * @throws ApiError 403 if a relation to one target has a hidden one and would get another
 */
export async function keepHidden(
  find: FindHidden,
  type: ContentType,
  present: readonly number[],
  wanted: readonly number[],
  many: boolean,
): Promise<readonly number[]> {
  const lost = present.filter((id) => !wanted.includes(id))
  if (lost.length === 0) return wanted
  const hidden = await find(type, lost)
  if (hidden.size === 0) return wanted
  if (many) return [...wanted, ...lost.filter((id) => hidden.has(id))]
  if (wanted.length > 0) throw forbidden()
  return present
}
