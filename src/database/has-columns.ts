// Whether a database of any kind has a table with certain columns: a statement that finds no row is asked.
import { sql } from 'kysely'
import type { RowReader } from './database.js'

/** Whether there is a table with all of these columns; with none of them, whether there is the table. */
export async function hasColumns(database: RowReader, table: string, columns: readonly string[] = []): Promise<boolean> {
  const names = columns.length === 0 ? sql`1 as one` : sql.join(columns.map((column) => sql.id(column)))
  try {
    await database.rows(sql`select ${names} from ${sql.table(table)} where 1 = 0`)
    return true
  } catch {
    return false
  }
}
