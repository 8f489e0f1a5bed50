// Classifies errors of a MySQL or MariaDB server or connection.
import { ApiError, validationError } from '../../../foundation/errors/errors.js'
import { schemaDriftError, unavailableError } from '../../errors.js'

interface ServerError {
  readonly code?: unknown
  readonly errno?: unknown
  /** Set by the driver: the connection is unusable. */
  readonly fatal?: unknown
}

/** The name of a server or network error; empty: neither. */
export const getCode = (error: unknown): string => String((error as ServerError | null)?.code ?? '')

/** The server's error number; 0: not a server error. */
export const getErrno = (error: unknown): number => {
  const number = (error as ServerError | null)?.errno
  return typeof number === 'number' && number > 0 ? number : 0
}

/**
 * The transaction conflicted and a retry may succeed: a deadlock; a timeout of a lock, including that for generated ids; a row changed
 * since it was read; a table being altered or evicted from the server's cache.
 */
export const isConflict = (error: unknown): boolean => [1020, 1213, 1412, 1467, 1615, 3572].includes(getErrno(error)) || isLockWait(error)

/** An unknown column in a check of a table that is being altered. The clause has this name in every language. */
export const isStaleCheck = (error: unknown): boolean => getErrno(error) === 1054 && /'CHECK'/.test((error as Error).message)

export const isLockWait = (error: unknown): boolean => getErrno(error) === 1205

/**
 * The connection is lost or could not be opened, or the server refuses to serve. Uncommitted transactions are rolled back. A Galera node
 * does not serve without the others (1047), and may lose them during a commit (1180).
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
 * The server is read-only, like a former primary after a switchover: another connection may lead to the current one. 1290 covers other
 * options, too, whose names do not depend on the language.
 */
export const isReadOnly = (error: unknown): boolean =>
  [1792, 1836].includes(getErrno(error)) || (getErrno(error) === 1290 && /read[-_]only/.test((error as Error).message))

/** A statement was cancelled or timed out on the server. */
export const isCancelled = (error: unknown): boolean => [1317, 1969, 3024].includes(getErrno(error))

/** The error of a statement or connection that timed out. A retry may take as long. */
export const timeoutError = (cause: unknown): Error =>
  Object.assign(new Error('The database did not respond in time', { cause }), { code: 'ETIMEDOUT' })

export const isTimeout = (error: unknown): boolean => getCode(error) === 'ETIMEDOUT'

const poolExhausted = 'POOL_EXHAUSTED'

/** The error if no connection becomes free in time. */
export const exhausted = (): Error => Object.assign(new Error('All connections to the database are in use'), { code: poolExhausted })

export const isExhaustion = (error: unknown): boolean => getCode(error) === poolExhausted

/** The server's error for a statement beyond its size limit. */
const tooLargeNumber = 1153
const tooLargeCode = 'ER_NET_PACKET_TOO_LARGE'

/** The error of a statement that is too large to send. `most`: maximum bytes. */
export const statementTooLarge = (bytes: number, most: number): Error =>
  Object.assign(new Error(`A statement has ${bytes} bytes, and the server takes ${most} (max_allowed_packet)`), {
    code: tooLargeCode,
    errno: tooLargeNumber,
  })

const isTooLarge = (error: unknown): boolean => getErrno(error) === tooLargeNumber

/** The server is out of resources or read-only. */
const isRefusal = (error: unknown): boolean => [1021, 1037, 1038, 1041, 1114, 1226, 1290, 1836, 3100].includes(getErrno(error))

/** A value that a column cannot store or be compared with: out of range, too long, of another type or character set, not JSON. */
const isBadValue = (error: unknown): boolean =>
  [1264, 1265, 1267, 1270, 1271, 1292, 1366, 1406, 1411, 1525, 1690, 3140, 3141, 3157, 3819, 4025].includes(getErrno(error))

/** The column named in the English message of such an error. */
function columnIn(error: unknown): string {
  const [, column] = / for column (?:`[^`]+`\.`[^`]+`\.)?[`']([^`']+)[`'] at row \d+$/.exec((error as Error).message) ?? []
  return column === undefined ? '' : `: that of the column ${column}`
}

/** The statement exceeds a server limit: tables of a join, columns, stack, nesting. */
const isTooComplex = (error: unknown): boolean => [1116, 1117, 1119, 1390, 1436, 1473].includes(getErrno(error))

/** A missing table or column. */
const isDrift = (error: unknown): boolean => [1054, 1146].includes(getErrno(error))

/** A retry is useless: the server rejects the statement, or it is a bug. */
export function isLasting(error: unknown): boolean {
  if (error instanceof ApiError || [isConflict, isConnectionLoss, isCancelled, isRefusal].some((passes) => passes(error))) return false
  return getErrno(error) > 0 || getCode(error) === ''
}

const tooLarge = (): ApiError =>
  new ApiError('PayloadTooLargeError', 'The data is larger than the database takes in one statement (max_allowed_packet)')

/** Converts an error for the client: 400 or 413 for invalid values, 503 for transient errors. Others are returned unchanged. */
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
