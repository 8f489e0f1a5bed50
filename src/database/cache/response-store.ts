// Answers in memory, bounded by their bytes. Each is returned for as long as nothing that it was read from has changed.
import { LRUCache } from 'lru-cache'
import { contentHash } from '../../foundation/runtime/file-operations.js'
import type { ReadResult } from '../database.js'
import { type CacheMemory, createCacheMemory, type Piece } from './cache-memory.js'
import type { TableChanges } from './table-changes.js'

export interface CacheLimits {
  /** Bytes of all answers that are kept; 0: none is. */
  readonly cacheBytes: number
  /** Bytes of one answer that is kept. */
  readonly cachedResponseBytes: number
}

/** The tables that a plan reads; null once the plan is forgotten, after which none of its answers is returned. */
export interface PlanTables {
  tables: ReadonlySet<string> | null
}

export interface ResultOrigin {
  readonly source: PlanTables
  /** The last change that it is certain to contain. */
  readonly since: number
}

/** Hands out an answer to one who asked, who releases it; undefined: it is gone. */
export type LendResult = () => ReadResult | undefined

export interface ResponseStore {
  /** The answer of a key, if it is still the one; undefined: none is kept. */
  get(key: string): ReadResult | undefined
  /**
   * Copies and releases a result, and caches the copy if it is still current and fits. Returns the copy. Returns undefined and releases
   * nothing if the result is too large, or is neither cached nor shared (`isShared`).
   */
  keep(key: string, answer: ReadResult, from: ResultOrigin, isShared: boolean): LendResult | undefined
  isTooLarge(answer: ReadResult): boolean
}

interface CachedResult extends ResultOrigin {
  readonly key: string
  /** The `contentHash` of its bytes; null: one row was asked for, and is not there. */
  readonly hash: string | null
  /** Its bytes. */
  piece: Piece | null
  /** Other forms of the bytes, by their names. */
  forms: Map<string, Piece> | null
  /** The last change at which it was found current. */
  checked: number
  /** Bytes of all its forms. */
  size: number
  /** Whether it was requested since its room was last claimed. */
  isUsed: boolean
}

/** Estimated overhead of a result in bytes, and of another form of it. */
const overhead = 500
const formOverhead = 300
/** Characters of remembered keys whose results were not cached; a repeated key is cached. */
const remembered = 1_000_000

const noTable = new Set<string>() as ReadonlySet<string>
const noBytes = new Uint8Array()

/** All that is kept. */
interface CachedResults {
  readonly changes: TableChanges
  readonly known: Map<string, CachedResult>
  readonly memory: CacheMemory
  readonly counts: CacheCounts | null
  /** The most bytes of one answer with all its forms. */
  readonly most: number
  /** The last change of unknown extent: nothing that was kept before is valid. */
  cleared: number
}

export function createResponseStore(changes: TableChanges, limits: CacheLimits, counts: CacheCounts | null = null): ResponseStore {
  const most = Math.min(limits.cacheBytes, limits.cachedResponseBytes)
  const memory = createCacheMemory(limits.cacheBytes)
  const known = new Map<string, CachedResult>()
  const answers: CachedResults = { changes, known, memory, counts, most, cleared: 0 }
  const admits = openAdmission(memory.hasRoom)
  counts?.holds(() => ({ entries: known.size, bytes: memory.taken() }))
  return {
    get: (key) => {
      const kept = known.get(key)
      if (kept === undefined) return undefined
      if (!isCurrent(changes, kept)) {
        forget(known, kept)
        // A plan that was forgotten is no change.
        if (kept.source.tables !== null) counts?.outdated()
        return undefined
      }
      kept.isUsed = true
      return lend(answers, kept)
    },
    isTooLarge: (answer) => sizeOf(answer) > most,
    keep: (key, answer, from, isShared) => {
      const kept = isStorable(answers, key, from, answer) && admits(key) ? storeCopy(answers, key, answer, from) : null
      if (kept === null) return isShared && sizeOf(answer) <= most ? shared(answer) : undefined
      answer?.release()
      return () => lend(answers, kept)
    },
  }
}

function isCurrent(changes: TableChanges, kept: CachedResult): boolean {
  const now = changes.now()
  if (kept.checked === now) return true
  if (hasChanged(changes, kept)) return false
  kept.checked = now
  return true
}

const hasChanged = (changes: TableChanges, { source: { tables }, since }: ResultOrigin): boolean =>
  tables === null || changes.lastOf(tables) > since

function forget(known: Map<string, CachedResult>, kept: CachedResult): void {
  if (known.get(kept.key) === kept) known.delete(kept.key)
  kept.piece?.free()
  for (const form of kept.forms?.values() ?? []) form.free()
  kept.piece = null
  kept.forms = null
}

/** Hands out an answer that is kept. */
function lend(answers: CachedResults, kept: CachedResult): ReadResult | undefined {
  const lent = kept.piece?.lend()
  if (lent === undefined) return undefined
  const { hash } = kept
  if (hash === null) {
    lent.release()
    return null
  }
  const { bytes, release } = lent
  const form = (name: string) => kept.forms?.get(name)?.lend()
  return { bytes, release, cached: { hash, form, store: (name, other) => storeForm(answers, kept, name, other) } }
}

function isStorable(answers: CachedResults, key: string, from: ResultOrigin, answer: ReadResult): boolean {
  const { changes, known, most } = answers
  if (hasChanged(changes, from)) return false
  const last = changes.lastOf(noTable)
  if (last > answers.cleared) for (const kept of known.values()) forget(known, kept)
  answers.cleared = last
  return sizeOf(answer) + keySize(key) <= most
}

/** A character of a key takes two bytes at most. */
const keySize = (key: string): number => 2 * key.length

/** Keeps a copy of an answer. Returns null where it has no room. */
function storeCopy(answers: CachedResults, key: string, answer: ReadResult, from: ResultOrigin): CachedResult | null {
  const { known, counts } = answers
  const hash = answer === null ? null : contentHash(answer.bytes)
  const kept: CachedResult = { ...from, key, hash, piece: null, forms: null, checked: from.since, size: 0, isUsed: false }
  kept.piece = take(answers, kept, answer?.bytes ?? noBytes, overhead + keySize(key), () => {
    forget(known, kept)
    counts?.evicted()
  })
  if (kept.piece === null) return null
  const before = known.get(key)
  if (before !== undefined) forget(known, before)
  known.set(key, kept)
  return kept
}

/** Keeps another form of an answer that is kept, if it has room. */
function storeForm(answers: CachedResults, kept: CachedResult, name: string, bytes: Uint8Array): void {
  if (kept.piece === null || kept.forms?.has(name)) return
  // The bytes themselves must not be held by the function.
  const size = bytes.length + formOverhead
  const piece = take(answers, kept, bytes, formOverhead, () => {
    kept.size -= size
    kept.forms?.delete(name)
  })
  if (piece === null) return
  // It may have been evicted for its own form.
  if (kept.piece === null) {
    piece.free()
    return
  }
  kept.forms ??= new Map()
  kept.forms.set(name, piece)
}

/** Copies bytes that belong to an answer. `evicted`: called where they are evicted. Returns null where they have no room. */
function take(answers: CachedResults, kept: CachedResult, bytes: Uint8Array, beside: number, evicted: () => void): Piece | null {
  const { changes, memory, most } = answers
  if (kept.size + bytes.length + beside > most) return null
  const isWanted = () => {
    const wasUsed = kept.isUsed
    kept.isUsed = false
    return wasUsed && isCurrent(changes, kept)
  }
  const piece = memory.add(bytes, beside, { isWanted, evicted })
  if (piece === undefined) return null
  kept.size += bytes.length + beside
  return piece
}

const sizeOf = (answer: ReadResult): number => overhead + (answer?.bytes.length ?? 0)

/** Admits all keys while there is room, then only repeated ones. */
function openAdmission(hasRoom: () => boolean): (key: string) => boolean {
  const refused = new LRUCache<string, true>({ maxSize: remembered, sizeCalculation: (_, key) => key.length })
  return (key) => {
    if (hasRoom() || refused.delete(key)) return true
    refused.set(key, true)
    return false
  }
}

/** A copy of an answer for those who wait for it together. */
function shared(answer: ReadResult): LendResult {
  if (answer === null) return () => null
  const copy = { bytes: Buffer.from(answer.bytes), release: () => {} }
  answer.release()
  return () => copy
}

/** Statistics since the start, and the current contents. */
export interface CacheActivity {
  /** Reads whose answer was in memory. */
  readonly hits: number
  /** Reads whose answer was looked for in memory and was not there. */
  readonly misses: number
  /** Reads whose answer is not kept. */
  readonly bypasses: number
  /** Cached responses that were evicted. */
  readonly evictions: number
  /** Answers that were there when they were asked for, but were no longer valid. */
  readonly outdated: number
  readonly entries: number
  /** Bytes of the entries, including their overhead. */
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
  /** Called when the cache opens; `held` returns its current contents. */
  holds(held: () => Pick<CacheActivity, 'entries' | 'bytes'>): void
  activity(): CacheActivity
}

/** Opens the counts of a cache that has done nothing yet. */
export function createCacheCounts(): CacheCounts {
  let asked = 0
  let hits = 0
  let misses = 0
  let evictions = 0
  let outdated = 0
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
