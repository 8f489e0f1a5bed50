// Validates parameters, query strings and bodies by the schemas of custom routes.
import { inputErrors } from '../../../foundation/config/limits.js'
import { type ApiError, validationError } from '../../../foundation/errors/errors.js'
import type { SchemaIssue, StandardSchema } from '../../../foundation/public/standard-schema.js'

/** What is validated, as errors name it. */
export type InputSource = 'params' | 'query' | 'body'

/** Returns what the schema makes of a value. @throws ApiError 400 with its issues as `details.errors` */
export async function validated(schema: StandardSchema, value: unknown, source: InputSource): Promise<unknown> {
  const result = await schema['~standard'].validate(value)
  if (result.issues === undefined) return result.value
  throw invalid(result.issues, source)
}

function invalid(issues: readonly SchemaIssue[], source: InputSource): ApiError {
  const errors = issues.slice(0, inputErrors).map(({ message, path = [] }) => ({
    path: path.map((part) => String(typeof part === 'object' ? part.key : part)),
    message: String(message),
    name: 'ValidationError',
  }))
  const message = errors.length === 1 ? errors[0]!.message : `${issues.length} errors occurred`
  return validationError(message, { errors, source })
}
