// 503, and what it is about as its cause: callers are told to try again, the log is told why.
import { ApiError } from '../errors/errors.js'

/** A write that was begun for a model before a change that moves content (live-model.17). */
export const outdatedModel = (): ApiError =>
  unavailable('The model was changed by another process meanwhile. Nothing was written; try again')

export function unavailable(message: string, cause?: unknown): ApiError {
  const error = new ApiError('ServiceUnavailableError', message)
  if (cause !== undefined) error.cause = cause
  return error
}
