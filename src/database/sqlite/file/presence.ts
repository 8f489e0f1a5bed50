// Whether the database can be trusted: its files are watched, and what connections say of damage is remembered. As long as the
// files are not those that were opened, nothing is read or written.
import type Database from 'better-sqlite3'
import type { MainConnection, ReadDatabase, WriteDatabase } from '../../database.js'
import { unavailable } from '../../unavailable.js'
import { type FileIdentities, identifyFiles, lostFiles, watchFiles } from './watch.js'

export interface Presence {
  readonly files: FileIdentities
  /** Null while the database can be trusted; otherwise what is wrong, as a sentence for whoever operates the service. */
  trouble(): string | null
  /** True once the files are not those that were opened: only a start helps. */
  isLost(): boolean
  /** Takes note of an error that a connection has met, where it is about the files. */
  note(error: unknown): void
  guardReads(database: ReadDatabase): ReadDatabase
  guardWrites(database: WriteDatabase): WriteDatabase
  guardDirect(database: MainConnection): MainConnection
  close(): void
}

/** How often somebody looks, and how often a suspicion must be confirmed; milliseconds. */
const [interval, patience] = [250, 2]
/** How long a disk that failed is reported after it did so last; milliseconds. */
const reported = 60_000

const damage = /^SQLITE_(?:CORRUPT|NOTADB)/
const failure = /^SQLITE_IOERR/

/** What SQLite has said, by the code of the error or of its cause: messages of other errors may repeat what a request says. */
function causeOf(error: unknown): { readonly code: string; readonly message: string } {
  const { cause } = error as { readonly cause?: unknown }
  for (const each of [error, cause]) {
    const { code, message = '' } = (each ?? {}) as { readonly code?: unknown; readonly message?: string }
    if (typeof code === 'string') return { code, message }
  }
  return { code: '', message: '' }
}

/** Watches the database of `connection`, which has read from it. `report` is told once of what is wrong. */
export function openPresence(connection: Database.Database, now: () => number, report: (sentence: string) => void): Presence {
  const files = identifyFiles(connection)
  const watch = watchFiles(connection, files, patience)
  let lost: string | null = null
  let damaged: string | null = null
  let failed: { readonly sentence: string; readonly at: number } | null = null

  function lose(what: string): void {
    if (lost !== null) return
    lost = `The database is not the one that was opened any more: ${what}. Nothing is read or written until the service is started again`
    report(lost)
  }

  function look(): void {
    try {
      const what = watch.look()
      if (what !== null) lose(what)
    } catch (error) {
      note(error)
    }
  }

  function note(error: unknown): void {
    const { code, message } = causeOf(error)
    if (code === lostFiles) lose(message)
    const text = `${code} ${message.split('\n')[0]}`
    if (damage.test(code) && damaged === null) {
      damaged = `The database is damaged (${text.trim()}). \`octavo doctor\` tells more; restore it from a backup`
      report(damaged)
    }
    if (!failure.test(code)) return
    if (failed === null) report(`The disk of the database fails (${text.trim()})`)
    failed = { sentence: `The disk of the database failed (${text.trim()})`, at: now() }
  }

  /** Notes what an error says of the files, and hides it from callers. */
  function understood(error: unknown): Error {
    note(error)
    const { code } = error as { readonly code?: unknown }
    const isAboutFiles = typeof code === 'string' && (damage.test(code) || failure.test(code))
    return isAboutFiles ? unavailable('The database cannot be read at the moment', error) : (error as Error)
  }

  function check(): void {
    if (lost !== null) throw unavailable('The database is not available', new Error(lost))
  }

  /** The same act, refused where the files are lost; what it fails with is looked at. */
  const guarded = <Act extends (...given: never[]) => Promise<unknown>>(act: Act): Act =>
    (async (...given: Parameters<Act>) => {
      check()
      try {
        return await act(...given)
      } catch (error) {
        throw understood(error)
      }
    }) as Act

  const timer = setInterval(look, interval)
  timer.unref()
  return {
    files,
    trouble: () => {
      if (failed !== null && now() - failed.at > reported) failed = null
      return lost ?? damaged ?? failed?.sentence ?? null
    },
    isLost: () => lost !== null,
    note,
    guardReads: (database) => ({ ...database, execute: guarded(database.execute) }),
    guardWrites: (database) => ({ ...database, transaction: guarded(database.transaction), run: guarded(database.run) }),
    guardDirect: (database) => ({
      rows: guarded(database.rows),
      changed: () => {
        check()
        try {
          return database.changed()
        } catch (error) {
          throw understood(error)
        }
      },
    }),
    close: () => clearInterval(timer),
  }
}
