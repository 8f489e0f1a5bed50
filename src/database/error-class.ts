// What an operation of the database failed with, as one of a few words.
import { ApiError } from '../foundation/errors/errors.js'
import { isCommitUnknown, isSchemaDrift } from './unavailable.js'

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
