// A lock on a file that the system gives back when its owner's process ends, however it ends, and that no clock decides about:
// the lock that SQLite takes on a database.
import Database from 'better-sqlite3'
import { codeOf } from '../errors.js'

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
