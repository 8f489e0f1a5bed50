// Classifies errors of a MySQL or MariaDB server, or of a connection to it.
import { ApiError, validationError } from '../../../foundation/errors/errors.js'
import { schemaDriftError, unavailableError } from '../../errors.js'

interface ServerError {
  readonly code?: unknown
  readonly errno?: unknown
  /** Set by the driver: nothing more can be done on the connection. */
  readonly fatal?: unknown
}

/** The name of an error, of the server or of the network; empty: it has none. */
export const getCode = (error: unknown): string => String((error as ServerError | null)?.code ?? '')

/** The server's number of an error; 0: it is none of the server's. */
export const getErrno = (error: unknown): number => {
  const number = (error as ServerError | null)?.errno
  return typeof number === 'number' && number > 0 ? number : 0
}

/**
 * The transaction conflicted with another one and succeeds when it is run again: a deadlock, a lock that was not to be had in time, also
 * that of the numbers of new rows, a row that was changed since it was read, a table that is being changed
 * or whose definition left the server's cache.
 */
export const isConflict = (error: unknown): boolean => [1020, 1213, 1412, 1467, 1615, 3572].includes(getErrno(error)) || isLockWait(error)

/** A column is not known in a check, whose table is about to be changed. The clause is named so in every language. */
export const isStaleCheck = (error: unknown): boolean => getErrno(error) === 1054 && /'CHECK'/.test((error as Error).message)

/** A lock was not to be had in time. */
export const isLockWait = (error: unknown): boolean => getErrno(error) === 1205

/**
 * The connection is gone or could not be made, or the server does not serve: nothing of an uncommitted transaction is left. A node of a Galera
 * cluster does not serve without the others (1047), and may lose them while it commits (1180).
 */
export function isConnectionLoss(error: unknown): boolean {
  if ((error as ServerError | null)?.fatal === true || isReadOnly(error)) return true
  if ([1040, 1047, 1053, 1077, 1079, 1152, 1158, 1159, 1160, 1161, 1180, 1203, 1927, 2006, 2013, 4031].includes(getErrno(error)))
    return true
  return /^(PROTOCOL_CONNECTION_LOST|PROTOCOL_SEQUENCE_TIMEOUT|E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|HOSTUNREACH|NOTFOUND|AI_AGAIN))$/.test(
    getCode(error),
  )
}

/**
 * The server may only be read, as the former primary after a switchover: another connection may lead to the current one. 1290 is also the error
 * of other options, which have the same names in every language.
 */
export const isReadOnly = (error: unknown): boolean =>
  [1792, 1836].includes(getErrno(error)) || (getErrno(error) === 1290 && /read[-_]only/.test((error as Error).message))

/** A statement was cancelled, or exceeded a time limit of the server. */
export const isCancelled = (error: unknown): boolean => [1317, 1969, 3024].includes(getErrno(error))

/** The error of a statement or connection without a response in time. A retry may take as long. */
export const timeoutError = (cause: unknown): Error =>
  Object.assign(new Error('The database did not respond in time', { cause }), { code: 'ETIMEDOUT' })

export const isTimeout = (error: unknown): boolean => getCode(error) === 'ETIMEDOUT'

const poolExhausted = 'POOL_EXHAUSTED'

/** The error if no connection becomes free in time. */
export const exhausted = (): Error => Object.assign(new Error('All connections to the database are in use'), { code: poolExhausted })

export const isExhaustion = (error: unknown): boolean => getCode(error) === poolExhausted

/** The server's number of an error about a statement that is larger than it takes, and its name. */
const tooLargeNumber = 1153
const tooLargeCode = 'ER_NET_PACKET_TOO_LARGE'

/** The error of a statement that is too large to send. `most`: maximum bytes of a statement. */
export const statementTooLarge = (bytes: number, most: number): Error =>
  Object.assign(new Error(`A statement has ${bytes} bytes, and the server takes ${most} (max_allowed_packet)`), {
    code: tooLargeCode,
    errno: tooLargeNumber,
  })

const isTooLarge = (error: unknown): boolean => getErrno(error) === tooLargeNumber

/** Resources of the server are exhausted, or it may only be read. */
const isRefusal = (error: unknown): boolean => [1021, 1037, 1038, 1041, 1114, 1226, 1290, 1836, 3100].includes(getErrno(error))

/** A value that a column cannot hold or be compared with: out of its range, too long, not of its type or character set, not JSON. */
const isBadValue = (error: unknown): boolean =>
  [1264, 1265, 1267, 1270, 1271, 1292, 1366, 1406, 1411, 1525, 1690, 3140, 3141, 3157, 3819, 4025].includes(getErrno(error))

/** The column that an English message about such a value names. */
function columnIn(error: unknown): string {
  const [, column] = / for column (?:`[^`]+`\.`[^`]+`\.)?[`']([^`']+)[`'] at row \d+$/.exec((error as Error).message) ?? []
  return column === undefined ? '' : `: that of the column ${column}`
}

/** A statement beyond what the server can execute: tables of a join, columns, its stack, the depth of selects. */
const isTooComplex = (error: unknown): boolean => [1116, 1117, 1119, 1390, 1436, 1473].includes(getErrno(error))

/** A column or a table that a statement names is not there. */
const isDrift = (error: unknown): boolean => [1054, 1146].includes(getErrno(error))

/** A retry is useless: the server refuses the statement, or it is a bug. */
export function isLasting(error: unknown): boolean {
  if (error instanceof ApiError || [isConflict, isConnectionLoss, isCancelled, isRefusal].some((passes) => passes(error))) return false
  return getErrno(error) > 0 || getCode(error) === ''
}

const tooLarge = (): ApiError =>
  new ApiError('PayloadTooLargeError', 'The data is larger than the database takes in one statement (max_allowed_packet)')

/** The error as callers get it: 400 or 413 for their values, 503 for what may pass. Other errors are returned as they are. */
export function toApiError(error: unknown): unknown {
  if (error instanceof ApiError) return error
  if (isBadValue(error)) return causedBy(validationError(`A value does not fit the type of its attribute${columnIn(error)}`), error)
  if (isDrift(error)) return schemaDriftError(error)
  if (isTooLarge(error)) return causedBy(tooLarge(), error)
  if (isTooComplex(error)) return causedBy(validationError('The request is too deep or too complex', {}), error)
  if (isConflict(error)) return unavailableError('Too many writes to the same documents, try again', error)
  if (isCancelled(error)) return unavailableError('The database took too long', error)
  if (isExhaustion(error)) return unavailableError('Too many requests are waiting for the database', error)
  if (isConnectionLoss(error) || isRefusal(error)) return unavailableError('The database is not available', error)
  return error
}

function causedBy(refused: ApiError, cause: unknown): ApiError {
  refused.cause = cause
  return refused
}
