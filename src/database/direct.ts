// The service's own connection: small statements beside the reader threads, and the look whether anything was committed.
import type Database from 'better-sqlite3'
import type { DirectDatabase } from './database.js'
import { writeSql } from './sqlite-dialect.js'

export function openDirect(database: Database.Database): DirectDatabase {
  // The version changes when another connection commits, `total_changes` when this one writes.
  const version = database.prepare('select (select data_version from pragma_data_version) + total_changes()').pluck()
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
      return database.prepare(sql).all(...parameters) as never
    },
  }
}
