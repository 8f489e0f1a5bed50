// 503, and what it is about as its cause: callers are told to try again, the log is told why.
import { ApiError } from '../errors/errors.js'

export function unavailable(message: string, cause?: unknown): ApiError {
  const error = new ApiError('ServiceUnavailableError', message)
  if (cause !== undefined) error.cause = cause
  return error
}
