// Inserting rows by column names, for what is written in bulk before anyone reads: first rows and seeds.
import type { Database, Statement } from 'better-sqlite3'
import { quoted } from '../../model/tables/table.js'
import type { Stored } from '../stored.js'

/** Inserts one row and gives its id. Columns that are not named take their default. */
export type Insert = (table: string, row: Readonly<Record<string, Stored>>) => number

/** Makes the function that inserts into `database`; every statement is prepared once. */
export function bulkInsert(database: Database): Insert {
  const statements = new Map<string, Statement>()
  return (table, row) => {
    const columns = Object.keys(row)
    const text = `INSERT INTO ${quoted(table)} (${columns.map(quoted).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`
    const statement = statements.get(text) ?? database.prepare(text)
    statements.set(text, statement)
    return Number(statement.run(...Object.values(row)).lastInsertRowid)
  }
}
