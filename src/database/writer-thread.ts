// The writer's thread: one connection that runs what it is told, in order. Knows nothing but statements.
import { parentPort, workerData } from 'node:worker_threads'
import type Database from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import { prepareRead } from './execute.js'
import type { ReadPlan } from './plan.js'
import { openSink } from './sink.js'
import { openSqlite } from './sqlite.js'
import type { FromWriter, ToWriter, WriterData } from './writer-messages.js'

/** Prepared statements that are kept. */
const kept = 500

const port = parentPort!
const { sqlite, signing } = workerData as WriterData
const database = openSqlite(sqlite)
const signer = signing === null ? null : await (await import('./signed-addresses.js')).openSigner(signing)
const source = { database, signer }
const room = Buffer.allocUnsafeSlow(64 * 1024)
const sink = openSink(Number.MAX_SAFE_INTEGER)
const statements = new LRUCache<string, Database.Statement>({ max: kept })

port.on('message', (message: ToWriter) => {
  if (message.kind === 'close') {
    database.close()
    port.close()
    return
  }
  let answer: FromWriter
  try {
    answer = perform(message)
  } catch (error) {
    const { code = 'UNKNOWN', message: text } = error as Error & { code?: string }
    answer = { id: message.id, code, message: text }
  }
  port.postMessage(answer)
})

function perform({ id, kind, sql, plan, parameters = [] }: ToWriter): FromWriter {
  switch (kind) {
    case 'begin':
      database.exec('begin immediate')
      return { id, rows: [] }
    case 'commit':
      database.exec('commit')
      return { id, rows: [] }
    case 'rollback':
      // A failed commit, or an error that ended the transaction by itself, leaves nothing to roll back.
      if (database.inTransaction) database.exec('rollback')
      return { id, rows: [] }
    case 'read':
      return { id, bytes: read(plan!, parameters) }
    case 'rows':
      return { id, rows: sql === undefined ? [] : prepared(sql).all(...parameters) }
    default: {
      const { changes, lastInsertRowid } = prepared(sql!).run(...parameters)
      return { id, changed: { rows: changes, id: Number(lastInsertRowid) } }
    }
  }
}

/** The answer to a plan as the transaction sees it; null where one row was asked for and is not there. */
function read(plan: ReadPlan, values: readonly unknown[]): Uint8Array | null {
  sink.begin(room)
  if (!prepareRead(source, plan, 'inside')(values, sink)) return null
  const { length, own } = sink.end()
  return own ?? Uint8Array.from(room.subarray(0, length))
}

function prepared(sql: string): Database.Statement {
  let statement = statements.get(sql)
  if (statement === undefined) {
    statement = database.prepare(sql)
    statements.set(sql, statement)
  }
  return statement
}
