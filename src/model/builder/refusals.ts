// The forms in which the builder refuses a request. Each route of Strapi has its own.
import type { Mistake, Refusal } from './project-schemas.js'

const refusal = (status: number, body: unknown): Refusal => ({ kind: 'refusal', status, body })

/** 400 of the older routes for mistakes in the body. */
export function invalidBody(mistakes: readonly Mistake[]): Refusal {
  const [first] = mistakes
  const message = mistakes.length === 1 ? first!.message : `${mistakes.length} errors occurred`
  const errors = mistakes.map(({ path, message, ...rest }) => ({ path, message, name: 'ValidationError', ...rest }))
  return refusal(400, { error: { name: 'ValidationError', message, details: { errors } } })
}

/** 400 of the older routes for a body of the wrong shape, or a regular expression that does not compile. */
export const unreadableBody = refusal(400, { error: {} })

/** `{ "error": "…" }`: every refusal of update-schema, and those of the older routes that are not about the body's form. */
export const refused = (message: string, status = 400): Refusal => refusal(status, { error: message })

/** 400 of the routes of categories. */
export const refusedCategory = (message: string): Refusal =>
  refusal(400, { data: null, error: { status: 400, name: 'ApplicationError', message, details: {} } })

/** 404 or 405 for requests that the builder does not know. */
export const unknownRoute = refusal(404, { data: null, error: { status: 404, name: 'NotFoundError', message: 'Not Found', details: {} } })
