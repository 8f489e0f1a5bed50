// Schemas of values that many resources have.
import * as z from 'zod'
import { passwordProblem } from '../../admin/identity/accounts.js'
import { isEmailAddress } from '../../identity/accounts/input.js'

/** A moment in a response: ISO 8601 in UTC. */
export const moment = z.iso.datetime()

/** A row id in a path or a query. */
export const rowIdInput = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, { error: 'This must be an id' })
  .meta({ type: 'integer', minimum: 1, pattern: undefined })
  .transform(Number)

/** A folder in a query: its row id, or the root. */
export const folderInput = z.string().regex(/^(?:root|[1-9]\d{0,14})$/, { error: 'This must be an id of a folder, or root' })

/** Rows of a page at most. */
const mostRows = 200
/** Rows of a page unless it is asked for others. */
const usualRows = 50
const limitError = { error: `limit must be a number from 1 to ${mostRows}` }

/** The parameters of a path that ends with a row id. */
export const byId = z.strictObject({ id: rowIdInput })

/** An e-mail address to sign in with, as it was typed. */
export const emailInput = z.string().min(1).max(255)

/** A password to compare with a stored one. Longer ones match none. */
export const passwordInput = z.string().min(1).max(1_000)

/** The address of a new account. */
export const newEmail = z.string().refine(isEmailAddress, { error: 'This is not a valid e-mail address' })

/** A new password, by the rules of Strapi's panel. */
export const newPassword = z.string().check((context) => {
  const problem = passwordProblem(context.value)
  if (problem !== null) context.issues.push({ code: 'custom', message: problem, input: '' })
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
    .regex(/^[1-9]\d{0,2}$/, limitError)
    .meta({ type: 'integer', minimum: 1, maximum: mostRows, default: usualRows, pattern: undefined })
    .transform(Number)
    .pipe(z.number().max(mostRows, limitError))
    .default(usualRows),
}

/** `meta` of a list with pages: where the next one begins. */
export const pageMeta = z.strictObject({ next: z.string().nullable() })

/** A moment of the database in a response. */
export const momentOf = (milliseconds: number): string => new Date(milliseconds).toISOString()

/** The same, where there may be none. */
export const momentOrNull = (milliseconds: number | null): string | null => (milliseconds === null ? null : momentOf(milliseconds))

/** A name of something that administrators make. */
export const nameInput = z.string().trim().min(1).max(255)

/** A description of it. */
export const descriptionInput = z.string().max(255)
