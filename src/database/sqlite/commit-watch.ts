// Commits to a SQLite database, by table. The service's writer notes the tables that it changes; the database reports whether there was any
// commit, and the writer's connection whether another process made one.
import type Database from 'better-sqlite3'
import { shared } from '../../foundation/runtime/coalesce.js'
import { type CommitWatch, type DependentTables, type TableChanges, toDependents } from '../cache/table-changes.js'
import { retrySchemaChanges } from './connection.js'
import type { CommitVersion } from './main-connection.js'
import type { SqliteWriter } from './writer/writer.js'

/** Milliseconds a read waits for the writer's answer. */
const patience = 5

/** Watches the commits reported by `version`. */
export function watchCommits(version: CommitVersion, changes: TableChanges, writer: Pick<SqliteWriter, 'isAlone'>): CommitWatch {
  let seen: unknown = null
  /** Whether the writer has not answered in time, because it executes a statement or waits for the disk. */
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
      return withinPatience(ask(), () => {
        isLate = true
      })
    },
  }
}

/** Resolves to whether something is done within `patience`; calls `late` if not. */
function withinPatience(asked: Promise<void>, late: () => void): Promise<boolean> {
  return new Promise((resolve) => {
    let isDone = false
    const giveUp = () => {
      if (!isDone) late()
      resolve(isDone)
    }
    // On a busy event loop the timer comes before a message that is there already.
    const timer = setTimeout(() => setImmediate(giveUp), patience)
    const done = (isKnown: boolean) => () => {
      isDone = true
      clearTimeout(timer)
      resolve(isKnown)
    }
    asked.then(done(true), done(false))
  })
}

/** Returns a function that looks up the foreign keys, again where tables were made or changed since. */
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
