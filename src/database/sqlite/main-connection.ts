// The service's own connection: small statements beside the reader threads, and the look whether anything was committed.
import type Database from 'better-sqlite3'
import type { MainConnection } from '../database.js'
import { keepStatements, throughSchemaChanges } from './connection.js'
import { writeSql } from './dialect.js'

/** Prepared statements that are kept. */
const kept = 100

/** Returns what changes whenever anything is committed, here or elsewhere. */
export function commitVersion(database: Database.Database): () => unknown {
  // The version changes when another connection commits, `total_changes` when this one writes.
  const version = database.prepare('select (select data_version from pragma_data_version) + total_changes()').pluck()
  return () => throughSchemaChanges(() => version.get())
}

export function openMainConnection(database: Database.Database): MainConnection {
  const version = commitVersion(database)
  const prepared = keepStatements(database, kept)
  let seen = version()
  return {
    changed: () => {
      const now = version()
      if (now === seen) return false
      seen = now
      return true
    },
    rows: async (query) => {
      const { sql, parameters } = writeSql(query)
      return throughSchemaChanges(() => prepared(sql).all(...parameters)) as never
    },
  }
}
