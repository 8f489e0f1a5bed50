// The service's own connection: small statements beside the reader threads, and the look whether anything was committed.
import type Database from 'better-sqlite3'
import { elapsed } from '../../foundation/runtime/clock.js'
import { endOfTurn } from '../../foundation/runtime/event-loop.js'
import type { MainConnection } from '../database.js'
import { keepStatements, throughSchemaChanges } from './connection.js'
import { writeSql } from './dialect.js'

/** Prepared statements that are kept. */
const kept = 100

/** What changes whenever anything is committed, here or elsewhere. */
export interface CommitVersion {
  read(): unknown
  /** As it was read at a moment after `since` (`elapsed`): now, unless it was read since then. */
  after(since: number): unknown
}

export function openCommitVersion(database: Database.Database): CommitVersion {
  // The version changes when another connection commits, `total_changes` when this one writes.
  const statement = database.prepare('select (select data_version from pragma_data_version) + total_changes()').pluck()
  let last: unknown = null
  let began = Number.NEGATIVE_INFINITY
  const read = () => {
    const now = elapsed()
    last = throughSchemaChanges(() => statement.get())
    began = now
    return last
  }
  return { read, after: (since) => (began > since ? last : read()) }
}

export function openMainConnection(database: Database.Database, version = openCommitVersion(database)): MainConnection {
  const prepared = keepStatements(database, kept)
  let seen = version.read()
  return {
    isRemote: false,
    changed: async () => {
      const since = elapsed()
      // Requests that came together share one look.
      await endOfTurn()
      const now = version.after(since)
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
