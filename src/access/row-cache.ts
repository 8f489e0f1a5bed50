// Caches of rows: what is read from the database once, and again after a commit.
import { LRUCache } from 'lru-cache'

// `max` would allocate all memory at the start; `maxSize` grows with the entries.
export const cacheOptions = (maxSize: number) => ({ maxSize, sizeCalculation: () => 1 })

/** Keeps what is read from rows until it is cleared after a commit. */
export interface RowCache<Key, Row> {
  get(key: Key): Promise<Row>
  clear(): void
}

/** Opens a cache of at most `maxSize` rows. */
export function openRowCache<Key extends string | number, Row>(maxSize: number, read: (key: Key) => Promise<Row>): RowCache<Key, Row> {
  const rows = new LRUCache<Key, { readonly row: Row }>(cacheOptions(maxSize))
  let commits = 0
  return {
    get: async (key) => {
      const cached = rows.get(key)
      if (cached !== undefined) return cached.row
      const seen = commits
      const row = await read(key)
      // A row that was read before the last commit may be outdated.
      if (seen === commits) rows.set(key, { row })
      return row
    },
    clear: () => {
      commits++
      rows.clear()
    },
  }
}
