// Makes missing indexes in the background, on a thread of its own: a large table must not hold up requests.
import { Worker } from 'node:worker_threads'
import type { Model } from '../../model/schema/types.js'
import { describeIndexes } from '../../model/tables/own-indexes.js'
import type { IndexingReport } from '../driver.js'
import type { SqliteOptions } from './connection.js'

/** Starts making what is missing; the result stops it. */
export function startIndexing(sqlite: SqliteOptions, model: Model, report: IndexingReport): () => Promise<void> {
  const worker = new Worker(new URL('./index-thread.js', import.meta.url), { workerData: { sqlite, indexes: describeIndexes(model) } })
  worker.on('message', (made: number) => report.made(made))
  worker.on('error', report.failed)
  return async () => {
    await worker.terminate()
  }
}
