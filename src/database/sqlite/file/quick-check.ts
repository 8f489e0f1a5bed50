// A look at the file before it is served: is it whole, as far as can be seen in a moment?
import type { Database } from 'better-sqlite3'
import { quoted } from '../../../model/tables/table.js'
import { isDamage } from '../errors.js'

export interface QuickCheck {
  /** What is wrong, in SQLite's words; null where nothing was found. */
  readonly damage: string | null
  /** Tables looked at, and tables there are. */
  readonly checked: number
  readonly tables: number
}

/** Bytes that a check passes in a millisecond on a slow disk: a table that is larger than what is left of the time is not begun. */
const bytesPerMillisecond = 50_000
/** Pages of the tables that are looked at in the first round, and how many times as many in each further one. */
const [firstRound, growth] = [64, 8]

/**
 * Checks table by table until `milliseconds` are over. A check cannot be stopped, but counting the pages of a table can: this comes
 * first where the file is large, in rounds, so that small tables do. A table that does not fit in what is left of the time is not begun: the doctor looks at
 * all of them.
 */
export function quickCheck(database: Database, milliseconds: number): QuickCheck {
  const end = performance.now() + milliseconds
  try {
    const names = tablesOf(database)
    const pageBytes = numberOf(database, 'page_size')
    const pages = numberOf(database, 'page_count')
    const fitting = (): number => Math.floor(((end - performance.now()) * bytesPerMillisecond) / pageBytes)
    const mayCheckAll = fitting() >= pages
    let [waiting, checked] = [names, 0]
    for (let most = firstRound; waiting.length > 0 && most < pages * growth; most *= growth) {
      const later: string[] = []
      for (const name of waiting) {
        const fits = fitting()
        if (fits <= 0) break
        if (!mayCheckAll && !hasAtMost(database, name, Math.min(most, fits, pages), end)) {
          if (most < fits) later.push(name)
          continue
        }
        const damage = damageOf(database, name)
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

const numberOf = (database: Database, pragma: string): number => Number(database.pragma(pragma, { simple: true }))

/** Lines of SQLite's that are told of a damage. */
const told = 3

function damageOf(database: Database, table: string): string | null {
  const found = String(database.pragma(`quick_check(${quoted(table)})`, { simple: true }))
  if (found === 'ok') return null
  const lines = found.split('\n').filter((line) => !line.startsWith('***'))
  return `${table}: ${lines.slice(0, told).join(', ')}`
}

const tablesOf = (database: Database): readonly string[] =>
  database
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and sql not like 'create virtual%'")
    .pluck()
    .all() as string[]

/**
 * Whether a table and its indexes have so many pages at most; false, too, where it is not known at `end`. Each page is looked at once,
 * which costs what its check costs again; the check finds it in memory.
 */
function hasAtMost(database: Database, table: string, pages: number, end: number): boolean {
  const trees = database.prepare('select name from sqlite_schema where tbl_name = ? and rootpage > 0').pluck().all(table) as string[]
  let counted = 0
  try {
    for (const tree of trees)
      for (const _page of database.prepare('select pageno from dbstat where name = ?').iterate(tree))
        if (++counted > pages || performance.now() > end) return false
  } catch (error) {
    // The check says what is wrong with it.
    if (!isDamage(error)) throw error
  }
  return true
}
