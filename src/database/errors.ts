// 503, and what it is about as its cause: callers are told to try again, the log is told why.
import { ApiError } from '../foundation/errors/errors.js'

/** A write that was begun for a model before a change that moves content (live-model.17). */
export const outdatedModel = (): ApiError =>
  unavailable('The model was changed by another process meanwhile. Nothing was written; try again')

export function unavailable(message: string, cause?: unknown): ApiError {
  const error = new ApiError('ServiceUnavailableError', message)
  if (cause !== undefined) error.cause = cause
  return error
}

const drifts = new WeakSet<object>()

/** Somebody has changed tables behind the service: what a statement names is not there. `cause` says what, for the log. */
export function schemaDrift(cause: unknown): ApiError {
  const error = unavailable('The tables of the database do not fit the content model any more (schema drift)', cause)
  drifts.add(error)
  return error
}

/** Whether a statement named what is not there. */
export const isSchemaDrift = (error: object): boolean => drifts.has(error)

const lostCommits = new WeakSet<object>()

/** What a transaction fails with of which nobody knows whether it was committed. */
export function commitUnknown(cause: unknown): ApiError {
  const error = unavailable('The database was lost while it committed, and may have done so: look whether the write is there', cause)
  lostCommits.add(error)
  return error
}

/** Whether nobody knows if a transaction that failed with this was committed. */
export const isCommitUnknown = (error: object): boolean => lostCommits.has(error)

export const databaseErrorClasses = ['conflict', 'overload', 'timeout', 'unavailable', 'commit_unknown', 'schema_drift', 'failure'] as const

/** Why an operation failed; `failure`: with an error that nobody expects. */
export type DatabaseErrorClass = (typeof databaseErrorClasses)[number]

/** The class of an error; null: it is about the request, and no error of the database. */
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
