// Creates missing indexes and their statistics on a separate thread, so that a large table does not block requests.
import { parentPort, workerData } from 'node:worker_threads'
import type { OwnIndex } from '../../model/tables/own-indexes.js'
import type { SqliteOptions } from './connection.js'
import { reopenSqlite } from './connection.js'
import { createIndexes } from './indexes.js'

const { sqlite, indexes } = workerData as { readonly sqlite: SqliteOptions; readonly indexes: readonly OwnIndex[] }
const database = reopenSqlite(sqlite)
parentPort!.postMessage(createIndexes(database, indexes, () => {}))
database.close()
