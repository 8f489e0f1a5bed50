// Applies a model change in one transaction on a separate thread, without concurrent writes.
import { Worker } from 'node:worker_threads'
import type { ModelWork } from '../database.js'
import { unavailableError } from '../errors.js'
import type { ModelWorkData, ModelWorkResult } from './apply-change-thread.js'
import type { SqliteOptions } from './connection.js'
import { writeSql } from './dialect.js'

/** Codes of transient errors. */
const passing = /^SQLITE_(?:BUSY|FULL|IOERR|READONLY)/

/** Applies a change. Resolves to false if it is outdated. @throws ApiError 503 if the database is locked or full */
export async function applySqliteChange(sqlite: SqliteOptions, { steps, model, isOutdated, complete: make }: ModelWork): Promise<boolean> {
  const data: ModelWorkData = { sqlite, steps, model, isOutdated: writeSql(isOutdated), make: make.map(writeSql) }
  const worker = new Worker(new URL('./apply-change-thread.js', import.meta.url), { workerData: data })
  const result = await new Promise<ModelWorkResult>((resolve, reject) => {
    worker.on('message', resolve)
    worker.on('error', reject)
    worker.on('exit', () => reject(new Error('The thread that changes the model ended')))
  })
  if ('isMade' in result) return result.isMade
  const error = Object.assign(new Error(result.message), { code: result.code })
  throw passing.test(result.code)
    ? unavailableError(`The database could not be changed now (${result.code}). Nothing was changed`, error)
    : error
}
