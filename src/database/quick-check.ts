// A look at the file before it is served: is it whole, as far as can be seen in a moment?
import { statSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import { quoted } from './table.js'

export interface QuickCheck {
  /** What is wrong, in SQLite's words; null where nothing was found. */
  readonly damage: string | null
  /** Tables looked at, and tables there are. */
  readonly checked: number
  readonly tables: number
}

/** Bytes that a check passes in a millisecond on a slow disk: what a table may have is guessed from it before it is looked at. */
const bytesPerMillisecond = 50_000

/**
 * Checks table by table, small ones first, until `milliseconds` are over. A table that is likely to take longer than what is left
 * is not begun: the doctor looks at all of them.
 */
export function quickCheck(database: Database, milliseconds: number): QuickCheck {
  const end = performance.now() + milliseconds
  try {
    const tables = tablesBySize(database)
    let checked = 0
    for (const { name, bytes } of tables) {
      if (performance.now() + bytes / bytesPerMillisecond > end) break
      const damage = damageOf(database, name)
      if (damage !== null) return { damage, checked, tables: tables.length }
      checked += 1
    }
    return { damage: null, checked, tables: tables.length }
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string }
    if (code === 'SQLITE_CORRUPT' || code === 'SQLITE_NOTADB' || code?.startsWith('SQLITE_CORRUPT') === true)
      return { damage: message, checked: 0, tables: 0 }
    throw error
  }
}

function damageOf(database: Database, table: string): string | null {
  const found = database.pragma(`quick_check(${quoted(table)})`, { simple: true })
  return found === 'ok' ? null : `${table}: ${String(found)}`
}

/** Every table with the share of the file that its rows suggest, the smallest first. */
function tablesBySize(database: Database): readonly { readonly name: string; readonly bytes: number }[] {
  const names = database
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and sql not like 'create virtual%'")
    .pluck()
    .all() as string[]
  const rows = names.map((name) => ({ name, rows: lastRow(database, name) }))
  const all = rows.reduce((sum, table) => sum + table.rows, 1)
  const { size } = statSync(database.name)
  return rows.map(({ name, rows: own }) => ({ name, bytes: (size * own) / all })).sort((a, b) => a.bytes - b.bytes)
}

/** The last row id, which costs one way down the tree; 0 for a table without. */
function lastRow(database: Database, table: string): number {
  try {
    return Number(
      database
        .prepare(`select max(rowid) from ${quoted(table)}`)
        .pluck()
        .get() ?? 0,
    )
  } catch (error) {
    if ((error as { readonly code?: string }).code === 'SQLITE_ERROR') return 0
    throw error
  }
}
