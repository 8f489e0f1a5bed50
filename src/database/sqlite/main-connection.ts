// The service's main connection: small statements apart from the reader threads, and the check for new commits.
import type Database from 'better-sqlite3'
import { elapsed } from '../../foundation/runtime/clock.js'
import { endOfTurn } from '../../foundation/runtime/event-loop.js'
import type { MainConnection } from '../database.js'
import { createStatementCache, retrySchemaChanges } from './connection.js'
import { writeSql } from './dialect.js'

/** Prepared statements that are kept. */
const maxStatements = 100

/** A value that changes with every commit, of this process or another. */
export interface CommitVersion {
  read(): unknown
  /** As it was read at a moment after `since` (`elapsed`): now, unless it was read since then. */
  after(since: number): unknown
}

export function createCommitVersion(database: Database.Database): CommitVersion {
  // The version changes when another connection commits, `total_changes` when this one writes.
  const statement = database.prepare('select (select data_version from pragma_data_version) + total_changes()').pluck()
  let last: unknown = null
  let began = Number.NEGATIVE_INFINITY
  const read = () => {
    const now = elapsed()
    last = retrySchemaChanges(() => statement.get())
    began = now
    return last
  }
  return { read, after: (since) => (began > since ? last : read()) }
}

export function createMainConnection(database: Database.Database, version = createCommitVersion(database)): MainConnection {
  const prepared = createStatementCache(database, maxStatements)
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
      return retrySchemaChanges(() => prepared(sql).all(...parameters)) as never
    },
  }
}
