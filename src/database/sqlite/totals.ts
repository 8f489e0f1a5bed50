// Totals of lists, kept as long as nothing at all has been committed: a page must not cost what its table does. Exact: the
// database itself says, in the snapshot of the read, whether it has changed.
import type Database from 'better-sqlite3'
import { LRUCache } from 'lru-cache'
import { oncePerConnection } from './connection.js'

/** Minimum milliseconds of a page whose total is cached: checking the cache costs a tenth of that. */
const worthKeeping = 0.03
/** Characters of the values whose totals are kept for one connection, and the most that count as one. */
const kept = 1_000_000
const longest = 1_000

/** A total, and the statistics of the page's access path if there are alternatives. */
export interface CachedTotal {
  readonly total: number
  readonly seen: PathStatistics | null
}

/** The condition with the fewest links, and how many it has, or as many as were counted. */
export interface PathStatistics {
  readonly lead: number
  readonly links: number
  /** The row from which on looking along the order has failed; infinite before. */
  farFrom: number
}

export interface Totals {
  /** The total that was remembered for these values, if no commit has happened since. Called inside the read's transaction. */
  recall(values: readonly unknown[]): CachedTotal | null
  /** Remembers a total that took `milliseconds` to find. */
  remember(values: readonly unknown[], known: CachedTotal, milliseconds: number): void
}

/** Cached totals of all plans of a connection. */
interface Memory {
  readonly version: Database.Statement
  readonly known: LRUCache<string, CachedTotal>
  seen: unknown
  plans: number
}

const getMemory = oncePerConnection(
  (database): Memory => ({
    version: database.prepare('select data_version from pragma_data_version').pluck(),
    known: new LRUCache<string, CachedTotal>({ maxSize: kept, sizeCalculation: (_, key) => key.length }),
    seen: null,
    plans: 0,
  }),
)

/** Opens the totals of one plan on one connection. The page's start and limit, the first two values, do not matter. */
export function createTotals(database: Database.Database): Totals {
  const memory = getMemory(database)
  const plan = ++memory.plans
  const keyOf = (values: readonly unknown[]) => `${plan} ${JSON.stringify(values.slice(2))}`
  /** Forgets everything where something was committed. */
  function look(): void {
    const now = memory.version.get()
    if (now !== memory.seen) memory.known.clear()
    memory.seen = now
  }
  return {
    recall: (values) => {
      if (memory.known.size === 0) return null
      look()
      return memory.known.get(keyOf(values)) ?? null
    },
    remember: (values, known, milliseconds) => {
      if (milliseconds < worthKeeping) return
      const key = keyOf(values)
      if (key.length > longest) return
      look()
      memory.known.set(key, known)
    },
  }
}
