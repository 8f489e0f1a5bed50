// Turns a copied database into a standalone file, without a log and without rows that refer to running processes.
import Database from 'better-sqlite3'
import { ConfigError } from '../../../foundation/errors/errors.js'
import { quoted } from '../../../model/tables/table.js'
import { isDamage } from '../errors.js'

/** Securely deletes all rows of `tables` from a copy, verifies it, and merges its log. @throws ConfigError if the copy is damaged */
export function finalizeCopy(file: string, tables: readonly string[]): void {
  const database = new Database(file, { fileMustExist: true })
  try {
    database.pragma('secure_delete = ON')
    const has = database.prepare("select 1 from sqlite_schema where type = 'table' and name = ?")
    database.transaction(() => {
      for (const table of tables) if (has.get(table) !== undefined) database.exec(`delete from ${quoted(table)}`)
    })()
    checkCopy(database, file)
    database.pragma('journal_mode = DELETE')
  } catch (error) {
    throw isDamage(error) ? damaged(file, (error as Error).message) : error
  } finally {
    database.close()
  }
}

/** Checks the integrity of a database that is not in use. @throws ConfigError if it is damaged */
export function checkDatabaseFile(file: string): void {
  const database = new Database(file, { fileMustExist: true, readonly: true })
  try {
    checkCopy(database, file)
  } catch (error) {
    throw isDamage(error) ? damaged(file, (error as Error).message) : error
  } finally {
    database.close()
  }
}

function checkCopy(database: Database.Database, file: string): void {
  const found = database.pragma('integrity_check(3)') as readonly { readonly integrity_check: string }[]
  const lines = found.map(({ integrity_check: line }) => line)
  if (lines[0] !== 'ok') throw damaged(file, lines.join(', '))
}

const damaged = (file: string, how: string): ConfigError => new ConfigError(`The database ${file} is damaged (${how})`)
