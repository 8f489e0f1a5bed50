// Cursors of pages: the sort values and the id of a row, and a hash of the query that they belong to.
import { createHash } from 'node:crypto'
import { validationError } from '../../foundation/errors/errors.js'

/** Where a page begins. */
export interface CursorPosition {
  readonly values: readonly unknown[]
  readonly id: number
}

/** Characters of a cursor that are read. */
const longest = 8_192

/** A hash of what decides which rows a list has, and in which order. */
export const queryHash = (query: unknown): string => createHash('sha256').update(JSON.stringify(query)).digest('base64url').slice(0, 12)

/** The cursor of a row. */
export const cursorOf = (hash: string, { id, values }: CursorPosition): string =>
  Buffer.from(JSON.stringify([hash, id, ...values])).toString('base64url')

/** Reads a cursor. @throws ApiError 400 for what is none, and for that of another query */
export function positionOf(hash: string, cursor: string): CursorPosition {
  const [of, id, ...values] = partsOf(cursor)
  if (typeof of !== 'string' || !Number.isSafeInteger(id) || values.some((value) => typeof value === 'object' && value !== null))
    throw invalid()
  if (of !== hash) throw validationError('The cursor is of another query: begin again without it')
  return { id: id as number, values }
}

function partsOf(cursor: string): readonly unknown[] {
  if (cursor.length > longest) throw invalid()
  try {
    const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown
    if (Array.isArray(parts)) return parts
  } catch {}
  throw invalid()
}

const invalid = () => validationError('Invalid cursor')
