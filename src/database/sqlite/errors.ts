// Classifies SQLite errors by code.
import type { DatabaseFault } from '../driver.js'

export const getCode = (error: unknown): string => String((error as { readonly code?: unknown } | null)?.code ?? '')

/** True if the file is damaged or not a database. */
export const isDamage = (error: unknown): boolean => /^SQLITE_(?:CORRUPT|NOTADB)/.test(getCode(error))

/** A missing table or column. `message` is SQLite's; from a thread it may begin with the error's name. */
export const isDrift = (code: string, message: string): boolean =>
  code === 'SQLITE_ERROR' && /^(?:SqliteError: )?(?:no such (?:table|column): |table \S+ has no column named )/.test(message)

/** Codes for problems with the file, its disk, permissions or locks. */
const storage = /^SQLITE_(?:NOTADB|CORRUPT|READONLY|CANTOPEN|PERM|IOERR|FULL|BUSY|LOCKED)/

/** Classifies an error; null: not from SQLite. */
export function classifyError(error: unknown): DatabaseFault | null {
  const code = getCode(error)
  if (!code.startsWith('SQLITE_')) return null
  return storage.test(code) ? 'storage' : 'statement'
}
