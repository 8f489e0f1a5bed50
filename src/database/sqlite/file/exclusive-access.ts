// Exclusive use of files, by SQLite's locks, which the system releases when a process ends.
import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { getCode, isDamage } from '../errors.js'

/** Milliseconds to wait for a short read of another process. */
const patience = 1_000

/**
 * Checkpoints the log of a database if no other connection has it open. Returns whether this is so; also true for a missing or unreadable
 * file.
 */
export function checkpointIfExclusive(filename: string): boolean {
  if (!existsSync(filename)) return true
  const database = new Database(filename, { fileMustExist: true, timeout: patience })
  try {
    // Without shared memory a log is only opened by one connection.
    database.pragma('locking_mode = EXCLUSIVE')
    database.exec('begin exclusive; commit')
    database.pragma('wal_checkpoint(TRUNCATE)')
    return true
  } catch (error) {
    if (getCode(error).startsWith('SQLITE_BUSY')) return false
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
 * Locks the file at `path`, which is created if necessary; null: already locked, by this process or another. @throws SqliteError if the
 * file cannot be created or its file system has no locks.
 */
export function lockFile(path: string): FileLock | null {
  const database = new Database(path, { timeout: 0 })
  try {
    // In memory, so that no journal file is created.
    database.exec('pragma journal_mode = memory; begin exclusive')
    return { release: () => database.close() }
  } catch (error) {
    database.close()
    if (getCode(error).startsWith('SQLITE_BUSY')) return null
    throw error
  }
}
