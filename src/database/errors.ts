// 503 errors with a cause: clients are asked to retry, the cause is logged.
import { ApiError } from '../foundation/errors/errors.js'

/** The write was built for a model before a change that moves content (live-model.17). */
export const outdatedModelError = (): ApiError => unavailableError('Another process has changed the model. Nothing was written; try again')

export function unavailableError(message: string, cause?: unknown): ApiError {
  const error = new ApiError('ServiceUnavailableError', message)
  if (cause !== undefined) error.cause = cause
  return error
}

const drifts = new WeakSet<object>()

/** A statement names a missing table or column: another program has altered the schema. `cause` is logged. */
export function schemaDriftError(cause: unknown): ApiError {
  const error = unavailableError('The tables of the database no longer match the content model (schema drift)', cause)
  drifts.add(error)
  return error
}

export const isSchemaDrift = (error: object): boolean => drifts.has(error)

const lostCommits = new WeakSet<object>()

/** A commit with an unknown outcome. */
export function commitUnknownError(cause: unknown): ApiError {
  const error = unavailableError('The database was lost while it committed, and may have done so: look whether the write is there', cause)
  lostCommits.add(error)
  return error
}

const isCommitUnknown = (error: object): boolean => lostCommits.has(error)

export const databaseErrorClasses = ['conflict', 'overload', 'timeout', 'unavailable', 'commit_unknown', 'schema_drift', 'failure'] as const

/** Class of a failed operation; `failure`: unexpected error. */
type DatabaseErrorClass = (typeof databaseErrorClasses)[number]

/** The class of an error; null: a request error rather than a database error. */
export function databaseErrorClass(error: unknown): DatabaseErrorClass | null {
  if (!(error instanceof ApiError)) return 'failure'
  if (error.status !== 503) return null
  if (isCommitUnknown(error)) return 'commit_unknown'
  if (isSchemaDrift(error)) return 'schema_drift'
  const { message } = error
  if (message.startsWith('Too many writes to the same documents')) return 'conflict'
  if (message.startsWith('Too many')) return 'overload'
  return /\btook (?:too long|longer)\b/.test(message) ? 'timeout' : 'unavailable'
}
