// Values that must be unique and are taken.
import { ApiError } from './errors.js'

/** What is said of a value that must be unique and is taken. */
export const takenMessage = 'This attribute must be unique'

/** True if a write was refused because of such a value. */
export function isUniqueConflict(error: unknown): boolean {
  if (!(error instanceof ApiError) || error.status !== 400) return false
  const { errors = [] } = (error.details ?? {}) as { readonly errors?: readonly { readonly message?: unknown }[] }
  return errors.some(({ message }) => message === takenMessage)
}
