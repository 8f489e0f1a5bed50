// Makes missing indexes and their statistics on a thread of its own, so that a large table does not hold up requests.
import { parentPort, workerData } from 'node:worker_threads'
import type { OwnIndex } from '../../model/tables/own-indexes.js'
import type { SqliteOptions } from './connection.js'
import { openSqliteAgain } from './connection.js'
import { createIndexes } from './indexes.js'

const { sqlite, indexes } = workerData as { readonly sqlite: SqliteOptions; readonly indexes: readonly OwnIndex[] }
const database = openSqliteAgain(sqlite)
parentPort!.postMessage(createIndexes(database, indexes, () => {}))
database.close()
