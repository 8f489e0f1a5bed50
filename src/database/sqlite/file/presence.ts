// Watches the files of an open database, and guards what reads and writes it: once the files are not those that were opened, nothing is
// read or written.
import type Database from 'better-sqlite3'
import type { CommitWatch } from '../../cache/table-changes.js'
import type { MainConnection, ReadDatabase, WriteDatabase } from '../../database.js'
import { type Health, openHealth } from './health.js'
import { type FileIdentities, identifyFiles, watchFiles } from './watch.js'

export interface Presence extends Pick<Health, 'trouble' | 'isLost' | 'note'> {
  readonly files: FileIdentities
  guardReads(database: ReadDatabase): ReadDatabase
  guardWrites(database: WriteDatabase): WriteDatabase
  guardMain(connection: MainConnection): MainConnection
  guardCommits(watch: CommitWatch): CommitWatch
  close(): void
}

/** Milliseconds between two looks at the files, and looks that must agree before the files count as lost. */
const [interval, patience] = [250, 2]

/** Watches the database of `connection`, which has read from it. `report` is called once for each thing that is wrong. */
export function openPresence(connection: Database.Database, now: () => number, report: (sentence: string) => void): Presence {
  const files = identifyFiles(connection)
  const watch = watchFiles(connection, files, patience)
  const health = openHealth(now, report)
  const timer = setInterval(() => {
    try {
      const what = watch.look()
      if (what !== null) health.lose(what)
    } catch (error) {
      health.note(error)
    }
  }, interval)
  timer.unref()
  return {
    files,
    trouble: health.trouble,
    isLost: health.isLost,
    note: health.note,
    guardReads: (database) => ({ ...database, execute: guarded(health, database.execute) }),
    guardWrites: (database) => ({
      ...database,
      transaction: guarded(health, database.transaction),
      run: guarded(health, database.run),
    }),
    guardMain: (database) => ({
      isRemote: database.isRemote,
      rows: guarded(health, database.rows),
      changed: async () => {
        health.check()
        try {
          return await database.changed()
        } catch (error) {
          throw health.understood(error)
        }
      },
    }),
    guardCommits: (watch) => ({
      changes: watch.changes,
      look: (since) => {
        health.check()
        try {
          return watch.look(since)
        } catch (error) {
          throw health.understood(error)
        }
      },
    }),
    close: () => clearInterval(timer),
  }
}

/** The same act, refused once the files are lost; what it fails with is noted. */
function guarded<Act extends (...given: never[]) => Promise<unknown>>(health: Health, act: Act): Act {
  return (async (...given: Parameters<Act>) => {
    health.check()
    try {
      return await act(...given)
    } catch (error) {
      throw health.understood(error)
    }
  }) as Act
}
