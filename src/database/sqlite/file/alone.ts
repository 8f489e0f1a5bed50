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
