// Schemas of values that many resources have, and cursors of lists by row id.

import { createHash } from 'node:crypto'
import * as z from 'zod'
import { inputError } from '../foundation/errors/errors.js'
import type { Issue } from '../foundation/errors/issues.js'
import { refusal } from '../foundation/errors/schema-issues.js'
import { isEmailAddress } from '../identity/accounts/input.js'
import { passwordError } from './identity/administrators.js'

/** ISO 8601 in UTC. */
export const timestamp = z.iso.datetime()

const anId: Issue = { code: 'type', params: { expected: 'integer' } }

export const rowIdInput = z
  .string()
  .refine((text) => /^[1-9]\d{0,14}$/.test(text), refusal('This must be an id', anId))
  .meta({ type: 'integer', minimum: 1 })
  .transform(Number)

/** A folder in a query: its row id, or `root`. */
export const folderInput = z
  .string()
  .refine((text) => /^(?:root|[1-9]\d{0,14})$/.test(text), refusal('This must be an id of a folder, or root', anId))
  .meta({ pattern: '^(?:root|[1-9]\\d{0,14})$' })

const maxRows = 200
const defaultRows = 50
const limitError = { error: `limit must be a number from 1 to ${maxRows}` }

/** The parameters of a path that ends with a row id. */
export const byId = z.strictObject({ id: rowIdInput })

/** The parameters of a path that ends with the code of a locale. */
export const byCode = z.strictObject({ code: z.string().max(35) })

/** An e-mail address for sign-in, as typed. */
export const emailInput = z.string().min(1).max(255)

/** A password for comparison. Longer ones never match. */
export const passwordInput = z.string().min(1).max(1_000)

/** The address of a new account. */
export const newEmail = z
  .string()
  .refine(isEmailAddress, refusal('This is not a valid e-mail address', { code: 'format', params: { expected: 'email' } }))

/** A new password, by the rules of Strapi's panel. */
export const newPassword = z.string().check((context) => {
  const { message, ...issue } = passwordError(context.value) ?? {}
  if (message !== undefined) context.issues.push({ code: 'custom', message, params: { issue }, input: '' })
})

/** A name of a person. */
export const personName = z.string().trim().min(1).max(255)

/** A one-time code, from an e-mail or the log. */
export const codeInput = z.string().min(1).max(200)

/** The parameters of a list with pages. */
export const pageInput = {
  after: z.string().max(200).optional(),
  limit: z
    .string()
    .refine((text) => /^-?\d{1,15}$/.test(text), refusal(limitError.error, anId))
    .meta({ type: 'integer', minimum: 1, maximum: maxRows, default: defaultRows })
    .transform(Number)
    .pipe(z.number().min(1, limitError).max(maxRows, limitError))
    .default(defaultRows),
}

/** `meta` of a list: the cursor of the next page. */
export const pageMeta = z.strictObject({ next: z.string().nullable() })

export const toTimestamp = (milliseconds: number): string => new Date(milliseconds).toISOString()

export const toTimestampOrNull = (milliseconds: number | null): string | null => (milliseconds === null ? null : toTimestamp(milliseconds))

export const nameInput = z.string().trim().min(1).max(255)

export const descriptionInput = z.string().max(255)

/** A hash of the filters and the order of a list. */
export const queryHash = (query: unknown): string => createHash('sha256').update(JSON.stringify(query)).digest('base64url').slice(0, 12)

/** The cursor after a row, with a hash of the query, so that a cursor of another list is refused. */
const toCursor = (id: number, query: unknown): string => Buffer.from(`${id}.${queryHash(query)}`).toString('base64url')

/** The row id of a cursor; null without one. @throws ApiError 400 for a cursor of another list */
export function parseCursor(cursor: string | undefined, query: unknown): number | null {
  if (cursor === undefined) return null
  const [id = '', hash] = Buffer.from(cursor, 'base64url').toString('utf8').split('.')
  if (!/^\d{1,15}$/.test(id) || hash !== queryHash(query)) throw inputError('after is not a position in this list', ['after'], 'cursor')
  return Number(id)
}

/** A page of a list. `rows`: up to `limit` + 1. */
export function toPage<Row>(rows: readonly Row[], limit: number, query: unknown, idOf: (row: Row) => number) {
  const shown = rows.slice(0, limit)
  return { shown, meta: { next: rows.length > limit ? toCursor(idOf(shown.at(-1)!), query) : null } }
}
