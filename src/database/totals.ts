// Totals of lists, kept as long as nothing at all has been committed: a page must not cost what
// its table does. Exact: the database itself says, in the snapshot of the read, whether it has changed.
import type Database from 'better-sqlite3'
import { LRUCache } from 'lru-cache'

/** Totals that took less are counted anew each time: the look whether they still hold costs a tenth of that; milliseconds. */
const worthKeeping = 0.03
/** Totals kept for each plan. */
const kept = 100

export interface Totals {
  /** The total that was remembered for these values, if no commit has happened since. Called inside the read's transaction. */
  recall(values: readonly unknown[]): number | null
  /** Remembers a total that took `milliseconds` to find. */
  remember(values: readonly unknown[], total: number, milliseconds: number): void
}

/** Opens the totals of one plan on one connection. The page's start and limit, the first two values, do not matter. */
export function openTotals(database: Database.Database): Totals {
  const version = database.prepare('select data_version from pragma_data_version').pluck()
  const known = new LRUCache<string, number>({ max: kept })
  let seen: unknown
  const keyOf = (values: readonly unknown[]) => JSON.stringify(values.slice(2))
  return {
    recall: (values) => {
      if (known.size === 0) return null
      const now = version.get()
      if (now !== seen) {
        known.clear()
        seen = now
        return null
      }
      return known.get(keyOf(values)) ?? null
    },
    remember: (values, total, milliseconds) => {
      if (milliseconds < worthKeeping) return
      const now = version.get()
      if (now !== seen) known.clear()
      seen = now
      known.set(keyOf(values), total)
    },
  }
}
