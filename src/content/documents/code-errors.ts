// What an error means that code of the project throws: the response to a request, or a bug of that code.
import { ApiError, type ErrorName } from '../../foundation/errors/errors.js'
import { failureOf } from '../../foundation/runtime/project-code.js'

/** Names of errors by which code of the project answers a request. Built-in errors have other names: those are bugs. */
const answers: ReadonlySet<string> = new Set<ErrorName>([
  'ApplicationError',
  'BadRequestError',
  'ValidationError',
  'UnauthorizedError',
  'ForbiddenError',
  'PolicyError',
  'NotFoundError',
  'ConflictError',
  'PayloadTooLargeError',
  'UnprocessableEntityError',
  'RateLimitError',
  'NotImplementedError',
  'ServiceUnavailableError',
])

/** Converts an error of the project's code: to the response, or to a bug of that code, which `code` names. */
export function answerOf(code: string, error: unknown): Error {
  if (error instanceof ApiError) return error
  if (!(error instanceof Error) || !answers.has(error.name)) return failureOf(code, error)
  const { details } = error as { details?: unknown }
  const isDetails = typeof details === 'object' && details !== null
  return new ApiError(error.name as ErrorName, error.message, isDetails ? (details as Record<string, unknown>) : {})
}
