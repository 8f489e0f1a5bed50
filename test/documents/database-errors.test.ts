// Database operations that count as failed, according to the errors that their callers get.
import { expect, test } from 'vitest'
import { commitUnknownError, databaseErrorClass, unavailableError } from '../../src/database/errors.js'
import { toApiError as explainedByMysql } from '../../src/database/server/mysql/errors.js'
import { toApiError } from '../../src/database/server/postgres/errors.js'
import { ApiError, validationError } from '../../src/foundation/errors/errors.js'

test('operations.16: a failure belongs to one class, and a refusal because of the request to none', () => {
  const ofServer = (code: string) => databaseErrorClass(toApiError(Object.assign(new Error('failed'), { code })))
  expect(['40001', '40P01', '57014', '08006', 'ECONNREFUSED', '53300', '42P01', '42601'].map(ofServer)).toEqual([
    ...['conflict', 'conflict', 'timeout', 'unavailable', 'unavailable', 'unavailable', 'schema_drift', 'failure'],
  ])
  expect(databaseErrorClass(toApiError(new Error('timeout exceeded when trying to connect')))).toBe('overload')
  expect(databaseErrorClass(explainedByMysql(Object.assign(new Error('deadlock'), { errno: 1213 })))).toBe('conflict')
  expect(databaseErrorClass(unavailableError('Too many writes are waiting'))).toBe('overload')
  expect(databaseErrorClass(unavailableError('The write took too long'))).toBe('timeout')
  expect(databaseErrorClass(commitUnknownError(new Error('lost')))).toBe('commit_unknown')
  expect(databaseErrorClass(validationError('Invalid key'))).toBeNull()
  expect(databaseErrorClass(new ApiError('ClientClosedRequestError', 'The client closed the connection'))).toBeNull()
  expect(ofServer('22P02')).toBeNull()
})
