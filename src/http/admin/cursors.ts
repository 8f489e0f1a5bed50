// Opaque positions in lists: the id of the last row, and a hash of the query, so that a position of another list is refused.
import { createHash } from 'node:crypto'
import { validationError } from '../../foundation/errors/errors.js'

const hashOf = (query: unknown): string => createHash('sha256').update(JSON.stringify(query)).digest('base64url').slice(0, 12)

/** Returns the position behind a row of the list with this query. */
export const cursorAt = (id: number, query: unknown): string => Buffer.from(`${id}.${hashOf(query)}`).toString('base64url')

/** Returns the row id of a position; null without one. @throws ApiError 400 for one of another list */
export function idOfCursor(cursor: string | undefined, query: unknown): number | null {
  if (cursor === undefined) return null
  const [id = '', hash] = Buffer.from(cursor, 'base64url').toString('utf8').split('.')
  if (!/^\d{1,15}$/.test(id) || hash !== hashOf(query)) throw validationError('after is not a position in this list')
  return Number(id)
}

/** A page of a list: one row more than `limit` was read, if there is one. */
export function pageOf<Row>(rows: readonly Row[], limit: number, query: unknown, idOf: (row: Row) => number) {
  const shown = rows.slice(0, limit)
  return { shown, meta: { next: rows.length > limit ? cursorAt(idOf(shown.at(-1)!), query) : null } }
}
