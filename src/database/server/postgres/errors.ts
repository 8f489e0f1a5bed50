// Classifies errors of a PostgreSQL server or connection.
import { ApiError, validationError } from '../../../foundation/errors/errors.js'
import { schemaDriftError, unavailableError } from '../../errors.js'

/** SQLSTATE or the code of a network error; empty: neither. */
export const getCode = (error: unknown): string => String((error as { readonly code?: unknown } | null)?.code ?? '')

/** The transaction conflicted and a retry may succeed: serialization failure, deadlock, lock timeout, or a changed column type. */
export const isConflict = (error: unknown): boolean =>
  ['40001', '40P01'].includes(getCode(error)) || isLockWait(error) || isOutdatedStatement(error)

/** A prepared statement's result types have changed. Names of server functions do not depend on the language. */
export const isOutdatedStatement = (error: unknown): boolean =>
  getCode(error) === '0A000' && (error as { readonly routine?: unknown }).routine === 'RevalidateCachedQuery'

export const isLockWait = (error: unknown): boolean => getCode(error) === '55P03'

/** Octavo's error code for a connection to a standby. A retry may reach the primary. */
export const onStandby = 'ON_STANDBY'

/**
 * A write reached a standby: behind a pooler, a connection may lead to a primary first and to a standby later. Names of server functions do
 * not depend on the language.
 */
function isStandby(error: unknown): boolean {
  if (getCode(error) === onStandby) return true
  const { routine } = (error ?? {}) as { readonly routine?: unknown }
  return (
    getCode(error) === '0A000' &&
    /^(check_transaction_isolation|check_XactIsoLevel|GetSerializableTransactionSnapshot)$/.test(String(routine))
  )
}

/** The connection is lost or could not be opened, or the server refuses to serve. Uncommitted transactions are rolled back. */
export function isConnectionLoss(error: unknown): boolean {
  if (isStandby(error)) return true
  const code = getCode(error)
  if (/^(08|57P0[1-5]|E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NOTFOUND|AI_AGAIN)$)/.test(code)) return true
  return code === '' && error instanceof Error && /^Connection terminated|not queryable|^timeout expired/.test(error.message)
}

/** SQLSTATE of a cancelled or timed-out statement. */
export const cancelled = '57014'

/** The error of a statement or connection that timed out. A retry may take as long. */
export const timeoutError = (cause: unknown): Error =>
  Object.assign(new Error('The database did not respond in time', { cause }), { code: 'ETIMEDOUT' })

export const isTimeout = (error: unknown): boolean =>
  getCode(error) === 'ETIMEDOUT' || (error instanceof Error && /^timeout expired|due to connection timeout$/.test(error.message))

const replaced = 'OCTAVO_OTHER_STANDBY'

/** The server was promoted or restarted after it reported its position, so it may lack data. */
export const otherStandby = (): Error => Object.assign(new Error('The server is another replica, or no longer one'), { code: replaced })

/** Whether an error makes a replica unusable, rather than only failing a read. */
export const isReplicaFailure = (error: unknown): boolean => getCode(error) === replaced || isConnectionLoss(error)

/** No connection of the pool became free in time. */
export const isExhaustion = (error: unknown): boolean =>
  getCode(error) === '' && error instanceof Error && error.message === 'timeout exceeded when trying to connect'

/** The server is out of resources or read-only, or a statement timed out. */
const isRefusal = (code: string): boolean => /^(53|25006$|57014$|58)/.test(code)

/** A value that a column cannot store or be compared with. */
const isBadValue = (code: string): boolean => code.startsWith('22')

/** The statement exceeds a server limit: columns, arguments, stack depth. */
const isTooComplex = (code: string): boolean => code.startsWith('54')

export const isMissingRight = (error: unknown): boolean => getCode(error) === '42501'

export const isMissingRelation = (error: unknown): boolean => getCode(error) === '42P01'

/** A missing table or column. */
const isDrift = (code: string): boolean => /^(42P01|42703)$/.test(code)

/** Converts an error for the client: 400 for invalid values, 503 for transient errors. Others are returned unchanged. */
export function toApiError(error: unknown): unknown {
  if (error instanceof ApiError) return error
  const code = getCode(error)
  if (isBadValue(code)) return causedBy(validationError('A value does not fit the type of its attribute'), error)
  if (isDrift(code)) return schemaDriftError(error)
  if (isTooComplex(code)) return causedBy(validationError('The request is too deep or too complex', {}), error)
  if (isConflict(error)) return unavailableError('Too many writes to the same documents, try again', error)
  if (code === cancelled) return unavailableError('The database took too long', error)
  if (isExhaustion(error)) return unavailableError('Too many requests are waiting for the database', error)
  if (isConnectionLoss(error) || isRefusal(code)) return unavailableError('The database is not available', error)
  return error
}

function causedBy(refused: ApiError, cause: unknown): ApiError {
  refused.cause = cause
  return refused
}
