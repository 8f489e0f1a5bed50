// The service's own connection: small statements beside the reader threads, and the look whether anything was committed.
import type Database from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import type { DirectDatabase } from './database.js'
import { writeSql } from './sqlite-dialect.js'

/** Prepared statements that are kept. */
const kept = 100

export function openDirect(database: Database.Database): DirectDatabase {
  // The version changes when another connection commits, `total_changes` when this one writes.
  const version = database.prepare('select (select data_version from pragma_data_version) + total_changes()').pluck()
  const statements = new LRUCache<string, Database.Statement>({ max: kept })
  let seen = version.get()
  /** One look serves all requests that came in with one turn of the event loop: they were sent before it. */
  let looked = false
  const lookAgain = () => {
    looked = false
  }
  return {
    changed: () => {
      if (looked) return false
      const now = version.get()
      looked = true
      setImmediate(lookAgain)
      if (now === seen) return false
      seen = now
      return true
    },
    rows: async (query) => {
      lookAgain()
      const { sql, parameters } = writeSql(query)
      const statement = statements.get(sql) ?? database.prepare(sql)
      statements.set(sql, statement)
      return statement.all(...parameters) as never
    },
  }
}
