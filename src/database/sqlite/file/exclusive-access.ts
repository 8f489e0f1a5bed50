// Exclusive access to files through SQLite's locks, which the system releases when a process ends.
import { existsSync } from 'node:fs'
import Database from 'better-sqlite3'
import { getCode, isDamage } from '../errors.js'

/** Milliseconds to wait for short reads of other processes. */
const busyTimeoutMs = 1_000

/** Checkpoints a database's log if no other connection is open, and returns whether that is so. Also true for a missing or damaged file. */
export function checkpointIfExclusive(filename: string): boolean {
  if (!existsSync(filename)) return true
  const database = new Database(filename, { fileMustExist: true, timeout: busyTimeoutMs })
  try {
    // In exclusive mode SQLite opens the log without shared memory.
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

/** Locks or creates the file at `path`; null: locked already. @throws SqliteError if the file system does not allow it */
export function lockFile(path: string): FileLock | null {
  const database = new Database(path, { timeout: 0 })
  try {
    // In memory, to avoid a journal file.
    database.exec('pragma journal_mode = memory; begin exclusive')
    return { release: () => database.close() }
  } catch (error) {
    database.close()
    if (getCode(error).startsWith('SQLITE_BUSY')) return null
    throw error
  }
}
