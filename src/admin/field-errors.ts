// Errors about fields, in the form of the administration API: the content API leaves the fields out, as Strapi does.
import { ApiError } from '../foundation/errors/errors.js'

/** Does what the content API does too. @throws what it throws, with the fields that it is about in `details.errors` */
export async function withFieldPaths<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiError) || error.situation?.kind !== 'fields') throw error
    const errors = error.situation.errors.map(({ path, message }) => ({ path, message, name: 'ValidationError' }))
    throw new ApiError(error.name, error.message, { ...error.details, errors })
  }
}

/** 400 for a name that another one of its kind has. */
export function nameTaken(kind: string): ApiError {
  const message = `A ${kind} with this name already exists`
  return new ApiError('ApplicationError', message, { errors: [{ path: ['name'], message, name: 'ValidationError' }] })
}
