// Whether anything else has a database open, by the locks that every connection has on its file.
import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { codeOf, isDamage } from '../errors.js'

/** Milliseconds to wait for somebody who just looks into the database. */
const patience = 1_000

/**
 * Writes what the log of a database has into its file, if no other connection has it open. Returns whether that is so; a file that is
 * missing, or that SQLite cannot read, is nobody's.
 */
export function settleAlone(filename: string): boolean {
  if (!existsSync(filename)) return true
  const database = new Database(filename, { fileMustExist: true, timeout: patience })
  try {
    // Without shared memory a log is only opened by one connection.
    database.pragma('locking_mode = EXCLUSIVE')
    database.exec('begin exclusive; commit')
    database.pragma('wal_checkpoint(TRUNCATE)')
    return true
  } catch (error) {
    if (codeOf(error).startsWith('SQLITE_BUSY')) return false
    if (isDamage(error)) return true
    throw error
  } finally {
    database.close()
  }
}

export interface FileLock {
  release(): void
}

/**
 * Locks the file at `path`, which is made if it is not there; null: somebody else, of this process or another, has it.
 * @throws SqliteError where the file cannot be made or its file system has no locks.
 */
export function lockFile(path: string): FileLock | null {
  const database = new Database(path, { timeout: 0 })
  try {
    // Nothing is ever written: no journal lies beside the file.
    database.exec('pragma journal_mode = memory; begin exclusive')
    return { release: () => database.close() }
  } catch (error) {
    database.close()
    if (codeOf(error).startsWith('SQLITE_BUSY')) return null
    throw error
  }
}
