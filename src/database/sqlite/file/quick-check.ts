// A time-limited check of the file at startup.
import type { Database } from 'better-sqlite3'
import { quoted } from '../../../model/tables/table.js'
import { isDamage } from '../errors.js'

interface QuickCheck {
  /** SQLite's description of the damage; null: none found. */
  readonly damage: string | null
  /** Checked tables, and all tables. */
  readonly checked: number
  readonly tables: number
}

/** Read rate on a slow disk: tables too large for the remaining time are skipped. */
const bytesPerMillisecond = 50_000
/** Maximum pages of tables checked in the first round, and the growth factor per round. */
const firstRound = 64
const growth = 8

/**
 * Checks table by table for `milliseconds`. A check cannot be interrupted, but counting a table's pages can: in large files, pages are
 * counted first, in rounds, so that small tables are checked before large ones. Tables too large for the remaining time are left to the
 * doctor.
 */
export function quickCheck(database: Database, milliseconds: number): QuickCheck {
  const end = performance.now() + milliseconds
  try {
    const names = tablesOf(database)
    const pageBytes = readNumber(database, 'page_size')
    const pages = readNumber(database, 'page_count')
    const fitting = (): number => Math.floor(((end - performance.now()) * bytesPerMillisecond) / pageBytes)
    const mayCheckAll = fitting() >= pages
    let waiting = names
    let checked = 0
    for (let most = firstRound; waiting.length > 0 && most < pages * growth; most *= growth) {
      const later: string[] = []
      for (const name of waiting) {
        const fits = fitting()
        if (fits <= 0) break
        if (!mayCheckAll && !hasAtMost(database, name, Math.min(most, fits, pages), end)) {
          if (most < fits) later.push(name)
          continue
        }
        const damage = findDamage(database, name)
        if (damage !== null) return { damage, checked, tables: names.length }
        checked += 1
      }
      waiting = later
    }
    return { damage: null, checked, tables: names.length }
  } catch (error) {
    if (isDamage(error)) return { damage: (error as Error).message, checked: 0, tables: 0 }
    throw error
  }
}

const readNumber = (database: Database, pragma: string): number => Number(database.pragma(pragma, { simple: true }))

const maxReportedLines = 3

function findDamage(database: Database, table: string): string | null {
  const found = String(database.pragma(`quick_check(${quoted(table)})`, { simple: true }))
  if (found === 'ok') return null
  const lines = found.split('\n').filter((line) => !line.startsWith('***'))
  return `${table}: ${lines.slice(0, maxReportedLines).join(', ')}`
}

const tablesOf = (database: Database): readonly string[] =>
  database
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and sql not like 'create virtual%'")
    .pluck()
    .all() as string[]

/** Whether a table and its indexes have at most this number of pages; false if unknown at `end`. Counting also caches the pages. */
function hasAtMost(database: Database, table: string, pages: number, end: number): boolean {
  const trees = database.prepare('select name from sqlite_schema where tbl_name = ? and rootpage > 0').pluck().all(table) as string[]
  let counted = 0
  try {
    for (const tree of trees)
      for (const _page of database.prepare('select pageno from dbstat where name = ?').iterate(tree))
        if (++counted > pages || performance.now() > end) return false
  } catch (error) {
    // The check reports the damage.
    if (!isDamage(error)) throw error
  }
  return true
}
