// Health of the database, by observations of its files and connections; and guards that stop reads and writes once the files are lost.

import type Database from 'better-sqlite3'
import type { CommitWatch } from '../../cache/table-changes.js'
import type { MainConnection, ReadDatabase, WriteDatabase } from '../../database.js'
import { schemaDriftError, unavailableError } from '../../errors.js'
import { isDrift } from '../errors.js'
import { type FileIdentities, identifyFiles, lostFiles, watchFiles } from './file-watch.js'

export interface Health {
  /** Null while the database can be trusted; otherwise the problem as a sentence for the operator. */
  trouble(): string | null
  /** True once the files are not those that were opened: only a start helps. */
  isLost(): boolean
  /** The files are not those that were opened: nothing is read or written from now on. */
  lose(what: string): void
  /** Notes an error that a connection has met, if it is about the files. */
  note(error: unknown): void
  /** Notes an error, and hides details of the files from callers. */
  toApiError(error: unknown): Error
  /** @throws ApiError 503 once the files are lost */
  check(): void
}

/** Milliseconds a disk failure is reported after its last occurrence. */
const reportedFor = 60_000

const damage = /^SQLITE_(?:CORRUPT|NOTADB)/
const failure = /^SQLITE_IOERR/

/** The code and message of a SQLite error or of its cause: messages of other errors may contain parts of a request. */
function getCause(error: unknown): { readonly code: string; readonly message: string } {
  const { cause } = error as { readonly cause?: unknown }
  for (const each of [error, cause]) {
    const { code, message = '' } = (each ?? {}) as { readonly code?: unknown; readonly message?: string }
    if (typeof code === 'string') return { code, message }
  }
  return { code: '', message: '' }
}

/** The location from which the open files can still be copied, as the end of a sentence. */
const openFiles = process.platform === 'linux' ? ` (from /proc/${process.pid}/fd, the database and its -wal together)` : ''

/** `report` is called once for each thing that is wrong. */
export function createFileHealth(now: () => number, report: (sentence: string) => void): Health {
  let lost: string | null = null
  let damaged: string | null = null
  let failed: { readonly sentence: string; readonly at: number } | null = null

  function lose(what: string): void {
    if (lost !== null) return
    lost = `The database is no longer the one that was opened: ${what}. Nothing is read or written until the service is started again. Ending it gives up what was acknowledged and is only in the files that it still has open: copy them first${openFiles}`
    report(lost)
  }

  function note(error: unknown): void {
    const { code, message } = getCause(error)
    if (code === lostFiles) lose(message)
    const text = `${code} ${message.split('\n')[0]}`.trim()
    if (damage.test(code) && damaged === null) {
      damaged = `The database is damaged (${text}). \`npx octavo doctor\` shows details; restore it from a backup`
      report(damaged)
    }
    if (!failure.test(code)) return
    if (failed === null) report(`The disk of the database fails (${text})`)
    failed = { sentence: `The disk of the database failed (${text})`, at: now() }
  }

  return {
    trouble: () => {
      if (failed !== null && now() - failed.at > reportedFor) failed = null
      return lost ?? damaged ?? failed?.sentence ?? null
    },
    isLost: () => lost !== null,
    lose,
    note,
    toApiError: (error) => {
      note(error)
      const { code, message } = error as { readonly code?: unknown; readonly message: string }
      if (typeof code === 'string' && isDrift(code, message)) return schemaDriftError(error)
      const isAboutFiles = typeof code === 'string' && (damage.test(code) || failure.test(code))
      return isAboutFiles ? unavailableError('The database cannot be read at the moment', error) : (error as Error)
    },
    check: () => {
      if (lost !== null) throw unavailableError('The database is not available', new Error(lost))
    },
  }
}

export interface FileGuard extends Pick<Health, 'trouble' | 'isLost' | 'note'> {
  readonly files: FileIdentities
  guardReads(database: ReadDatabase): ReadDatabase
  guardWrites(database: WriteDatabase): WriteDatabase
  guardMain(connection: MainConnection): MainConnection
  guardCommits(watch: CommitWatch): CommitWatch
  close(): void
}

/** Milliseconds between two looks at the files, and looks that must agree before the files count as lost. */
const interval = 250
const patience = 2

/** Watches the database of `connection`, which has read from it. `report` is called once for each thing that is wrong. */
export function createFileGuard(connection: Database.Database, now: () => number, report: (sentence: string) => void): FileGuard {
  const files = identifyFiles(connection)
  const watch = watchFiles(connection, files, patience)
  const health = createFileHealth(now, report)
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
          throw health.toApiError(error)
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
          throw health.toApiError(error)
        }
      },
    }),
    close: () => clearInterval(timer),
  }
}

/** Wraps an operation: refuses it once the files are lost, and notes its errors. */
function guarded<Act extends (...given: never[]) => Promise<unknown>>(health: Health, act: Act): Act {
  return (async (...given: Parameters<Act>) => {
    health.check()
    try {
      return await act(...given)
    } catch (error) {
      throw health.toApiError(error)
    }
  }) as Act
}
