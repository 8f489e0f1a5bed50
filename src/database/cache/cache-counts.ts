// Counts what a cache of answers does, where somebody watches it.

/** What a cache has done since the start, and what it holds now. */
export interface CacheActivity {
  /** Reads whose answer was in memory. */
  readonly hits: number
  /** Reads whose answer was looked for in memory and was not there. */
  readonly misses: number
  /** Reads whose answer is not kept. */
  readonly bypasses: number
  /** Answers that made room for others. */
  readonly evictions: number
  /** Answers that were there when they were asked for, but were no longer valid. */
  readonly outdated: number
  readonly entries: number
  /** Bytes of the entries, with what they take besides. */
  readonly bytes: number
}

/** Receives what a cache does. */
export interface CacheCounts {
  /** A read came. */
  asked(): void
  /** Its answer was looked for, and is there or not. */
  found(isHit: boolean): void
  /** An answer made room for others. */
  evicted(): void
  /** An answer that was asked for was no longer valid. */
  outdated(): void
  /** The cache is open; `held` says what it holds. */
  holds(held: () => Pick<CacheActivity, 'entries' | 'bytes'>): void
  activity(): CacheActivity
}

/** Opens the counts of a cache that has done nothing yet. */
export function openCacheCounts(): CacheCounts {
  let [asked, hits, misses, evictions, outdated] = [0, 0, 0, 0, 0]
  let held: () => Pick<CacheActivity, 'entries' | 'bytes'> = () => ({ entries: 0, bytes: 0 })
  return {
    asked: () => void asked++,
    found: (isHit) => void (isHit ? hits++ : misses++),
    evicted: () => void evictions++,
    outdated: () => void outdated++,
    holds: (given) => {
      held = given
    },
    activity: () => ({ hits, misses, bypasses: asked - hits - misses, evictions, outdated, ...held() }),
  }
}
