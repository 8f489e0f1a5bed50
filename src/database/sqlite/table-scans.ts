// Which tables SQLite looks through as a whole for a statement, as its own plan says.
import type Database from 'better-sqlite3'
import type { TableScan } from '../database.js'
import type { Statement } from '../plan.js'

/** The tables of a statement of ours by their aliases. */
const tablesOf = (sql: string): ReadonlyMap<string, string> =>
  new Map([...sql.matchAll(/\b(?:from|join) "([^"]+)" as "([^"]+)"/g)].map(([, table, alias]) => [alias!, table!]))

/** Finds the tables that are looked through row by row. An index that is read in the order of a list is none of them. */
export function tableScansOf(database: Database.Database, { sql, parameters }: Statement): readonly TableScan[] {
  const tables = tablesOf(sql)
  const steps = database.prepare(`explain query plan ${sql}`).all(parameters.map(() => null)) as readonly { readonly detail: string }[]
  const scanned = steps.flatMap(({ detail }) => tables.get(/^SCAN (\S+)$/.exec(detail)?.[1] ?? '') ?? [])
  return [...new Set(scanned)].map((table) => ({ table, rows: rowsOf(database, table) }))
}

/** The rows of a table, or more: its highest row id, which costs nothing to find. */
const rowsOf = (database: Database.Database, table: string): number =>
  Number(database.prepare(`select max(rowid) from "${table}"`).pluck().get() ?? 0)
