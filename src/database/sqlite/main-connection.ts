// The service's main connection for small statements, and the commit watch, which knows the changed tables of this process's commits.

import type Database from 'better-sqlite3'
import { elapsed } from '../../foundation/runtime/clock.js'
import { shared } from '../../foundation/runtime/coalesce.js'
import { endOfTurn } from '../../foundation/runtime/event-loop.js'
import { type CommitWatch, type DependentTables, type TableChanges, toDependents } from '../cache/table-changes.js'
import type { MainConnection } from '../database.js'
import { createStatementCache, retrySchemaChanges } from './connection.js'
import { writeSql } from './dialect.js'
import type { SqliteWriter } from './writer/writer.js'

const maxStatements = 100

/** A value that changes with every commit of any process. */
interface CommitVersion {
  read(): unknown
  /** The value as read after `since` (`elapsed`); reads it unless that has happened. */
  after(since: number): unknown
}

export function createCommitVersion(database: Database.Database): CommitVersion {
  // `data_version` changes when another connection commits, `total_changes` when this one writes.
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
      // Requests that arrive together share a check.
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

const writerTimeoutMs = 5

export function watchCommits(version: CommitVersion, changes: TableChanges, writer: Pick<SqliteWriter, 'isAlone'>): CommitWatch {
  let seen: unknown = null
  /** True if the writer has missed the deadline because it is executing a statement or waiting for the disk. */
  let isLate = false
  const ask = shared(async () => {
    try {
      const now = version.read()
      const isAlone = await writer.isAlone().catch(() => false)
      if (!isAlone) changes.noteAll()
      seen = now
    } finally {
      isLate = false
    }
  })
  return {
    changes,
    look: (since) => {
      if (version.after(since) === seen) return true
      if (isLate) return false
      return withinTimeout(ask(), () => {
        isLate = true
      })
    },
  }
}

/** Resolves to whether `work` is fulfilled in time; calls `late` if not. */
function withinTimeout(work: Promise<void>, late: () => void): Promise<boolean> {
  return new Promise((resolve) => {
    let isDone = false
    const giveUp = () => {
      if (!isDone) late()
      resolve(isDone)
    }
    // On a busy event loop the timer fires before a message that has already arrived.
    const timer = setTimeout(() => setImmediate(giveUp), writerTimeoutMs)
    const done = (isKnown: boolean) => () => {
      isDone = true
      clearTimeout(timer)
      resolve(isKnown)
    }
    work.then(done(true), done(false))
  })
}

/** Returns a function that looks up foreign keys, cached until the schema changes. */
export function createDependentTables(connection: Database.Database): () => DependentTables {
  const version = connection.prepare('select schema_version from pragma_schema_version').pluck()
  let seen: unknown = null
  let found: DependentTables = null
  return () => {
    const now = retrySchemaChanges(() => version.get())
    if (now !== seen) found = retrySchemaChanges(() => dependentTables(connection))
    seen = now
    return found
  }
}

function dependentTables(connection: Database.Database): DependentTables {
  // A trigger may change any table, and a view read any.
  if (connection.prepare("select 1 from sqlite_schema where type in ('trigger', 'view') limit 1").get() !== undefined) return null
  const keys = connection
    .prepare(
      `select f."table" as above, t.name as below from sqlite_schema t join pragma_foreign_key_list(t.name) f where t.type = 'table'`,
    )
    .raw()
    .all() as readonly (readonly [above: string, below: string])[]
  return toDependents(keys)
}
