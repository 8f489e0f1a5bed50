// What the errors of a PostgreSQL server or of a connection to it mean for a caller.
import { ApiError, validationError } from '../../../foundation/errors/errors.js'
import { schemaDrift, unavailable } from '../../errors.js'

/** SQLSTATE, or the code of a network error; empty: neither. */
export const codeOf = (error: unknown): string => String((error as { readonly code?: unknown } | null)?.code ?? '')

/**
 * The transaction conflicted with another one and succeeds when it is run again: serialization failure, deadlock, lock not available, a
 * column that was given another type.
 */
export const isConflict = (error: unknown): boolean =>
  ['40001', '40P01'].includes(codeOf(error)) || isLockWait(error) || isOutdatedStatement(error)

/** A statement that a connection has prepared has results of other types now. Functions of the server are named the same in every language. */
export const isOutdatedStatement = (error: unknown): boolean =>
  codeOf(error) === '0A000' && (error as { readonly routine?: unknown }).routine === 'RevalidateCachedQuery'

/** A lock was not to be had in time. */
export const isLockWait = (error: unknown): boolean => codeOf(error) === '55P03'

/** The code of an error of ours: the server at the other end is a standby. Another try may reach the primary. */
export const onStandby = 'ON_STANDBY'

/**
 * A write began on a server in recovery: behind a pooler, a connection may lead to a primary first and to a standby later. Functions of the
 * server are named the same in every language.
 */
function isStandby(error: unknown): boolean {
  if (codeOf(error) === onStandby) return true
  const { routine } = (error ?? {}) as { readonly routine?: unknown }
  return (
    codeOf(error) === '0A000' &&
    /^(check_transaction_isolation|check_XactIsoLevel|GetSerializableTransactionSnapshot)$/.test(String(routine))
  )
}

/** The connection is gone or could not be made, or the server does not serve: nothing of an uncommitted transaction is left. */
export function isConnectionLoss(error: unknown): boolean {
  if (isStandby(error)) return true
  const code = codeOf(error)
  if (/^(08|57P0[1-5]|E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NOTFOUND|AI_AGAIN)$)/.test(code)) return true
  return code === '' && error instanceof Error && /^Connection terminated|not queryable|^timeout expired/.test(error.message)
}

/** A statement was ended because somebody asked for it, or by its own time-out. */
export const cancelled = '57014'

/** What a statement or a connection fails with that got no answer in its time. Another try may take as long. */
export const timeoutOf = (cause: unknown): Error =>
  Object.assign(new Error('The database did not answer in time', { cause }), { code: 'ETIMEDOUT' })

export const isTimeout = (error: unknown): boolean =>
  codeOf(error) === 'ETIMEDOUT' || (error instanceof Error && /^timeout expired|due to connection timeout$/.test(error.message))

const replaced = 'OCTAVO_OTHER_STANDBY'

/** A read was executed by a server that was promoted or started again since it was asked what it has replayed: it may have less, or gone another way. */
export const otherStandby = (): Error => Object.assign(new Error('The replica is another one, or none any more'), { code: replaced })

/** Whether an error says that a replica cannot be used, and not only that it did not execute a read. */
export const isReplicaFailure = (error: unknown): boolean => codeOf(error) === replaced || isConnectionLoss(error)

/** All connections of a pool were in use for as long as a connection may be waited for. */
export const isExhaustion = (error: unknown): boolean =>
  codeOf(error) === '' && error instanceof Error && error.message === 'timeout exceeded when trying to connect'

/** Resources of the server are exhausted, it is read-only, or it ended a statement that took too long. */
const isRefusal = (code: string): boolean => /^(53|25006$|57014$|58)/.test(code)

/** A value that a column cannot hold or be compared with. */
const isBadValue = (code: string): boolean => code.startsWith('22')

/** A statement beyond what the server can execute: columns, arguments, the depth of its stack. */
const isTooComplex = (code: string): boolean => code.startsWith('54')

/** The database user lacks a grant. */
export const isMissingRight = (error: unknown): boolean => codeOf(error) === '42501'

/** A table that a statement names is not there. */
export const isMissingRelation = (error: unknown): boolean => codeOf(error) === '42P01'

/** A table or a column that a statement names is not there. */
const isDrift = (code: string): boolean => /^(42P01|42703)$/.test(code)

/** The error as callers get it: 400 for their values, 503 for what may pass. Other errors are returned as they are. */
export function explained(error: unknown): unknown {
  if (error instanceof ApiError) return error
  const code = codeOf(error)
  if (isBadValue(code)) return causedBy(validationError('A value does not fit the type of its attribute'), error)
  if (isDrift(code)) return schemaDrift(error)
  if (isTooComplex(code)) return causedBy(validationError('The request is too deep or too complex', {}), error)
  if (isConflict(error)) return unavailable('Too many writes to the same documents, try again', error)
  if (code === cancelled) return unavailable('The database took too long', error)
  if (isExhaustion(error)) return unavailable('Too many requests are waiting for the database', error)
  if (isConnectionLoss(error) || isRefusal(code)) return unavailable('The database is not available', error)
  return error
}

function causedBy(refused: ApiError, cause: unknown): ApiError {
  refused.cause = cause
  return refused
}
