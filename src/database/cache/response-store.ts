// Answers in memory, bounded by their bytes. Each is returned for as long as nothing that it was read from has changed.
import { LRUCache } from 'lru-cache'
import { contentHash } from '../../foundation/runtime/content-hash.js'
import type { ReadAnswer } from '../database.js'
import { type AnswerMemory, openAnswerMemory, type Piece } from './cache-memory.js'
import type { TableChanges } from './table-changes.js'

export interface CacheLimits {
  /** Bytes of all answers that are kept; 0: none is. */
  readonly cacheBytes: number
  /** Bytes of one answer that is kept. */
  readonly cachedAnswerBytes: number
}

/** The tables that a plan reads; null once the plan is forgotten, after which none of its answers is returned. */
export interface PlanSource {
  tables: ReadonlySet<string> | null
}

/** Where an answer comes from. */
export interface Provenance {
  readonly source: PlanSource
  /** The last change that it is certain to contain. */
  readonly since: number
}

/** Hands out an answer to one who asked, who releases it; undefined: it is gone. */
export type LendAnswer = () => ReadAnswer | undefined

export interface AnswerStore {
  /** The answer of a key, if it is still the one; undefined: none is kept. */
  get(key: string): ReadAnswer | undefined
  /**
   * Copies an answer, releases it, and keeps the copy if it is still the one and has room. Returns the copy; undefined, with nothing released, where
   * the answer is too large to be kept, or is not kept and needed by nobody else (`isShared`).
   */
  keep(key: string, answer: ReadAnswer, from: Provenance, isShared: boolean): LendAnswer | undefined
  /** Whether an answer is too large to be kept. */
  isTooLarge(answer: ReadAnswer): boolean
}

interface Kept extends Provenance {
  readonly key: string
  /** The `contentHash` of its bytes; null: one row was asked for, and is not there. */
  readonly hash: string | null
  /** Its bytes. */
  piece: Piece | null
  /** Other forms of the bytes, by their names. */
  forms: Map<string, Piece> | null
  /** The last change for which it was seen to be the one. */
  checked: number
  /** Bytes of all its forms. */
  size: number
  /** Whether it was asked for since somebody else needed its room. */
  isUsed: boolean
}

/** Bytes that an answer takes besides its key and its own bytes, about; and another form of it. */
const [overhead, formOverhead] = [500, 300]
/** Characters of the keys of answers that were not kept, of which one that comes again is. */
const remembered = 1_000_000

const [noTable, noBytes] = [new Set<string>() as ReadonlySet<string>, new Uint8Array()]

/** All that is kept. */
interface KeptAnswers {
  readonly changes: TableChanges
  readonly known: Map<string, Kept>
  readonly memory: AnswerMemory
  readonly counts: CacheCounts | null
  /** The most bytes of one answer with all its forms. */
  readonly most: number
  /** The last change of unknown extent: nothing that was kept before is valid. */
  cleared: number
}

export function openAnswerStore(changes: TableChanges, limits: CacheLimits, counts: CacheCounts | null = null): AnswerStore {
  const [most, memory] = [Math.min(limits.cacheBytes, limits.cachedAnswerBytes), openAnswerMemory(limits.cacheBytes)]
  const known = new Map<string, Kept>()
  const answers: KeptAnswers = { changes, known, memory, counts, most, cleared: 0 }
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
      const kept = mayBeKept(answers, key, from, answer) && admits(key) ? keepCopy(answers, key, answer, from) : null
      if (kept === null) return isShared && sizeOf(answer) <= most ? shared(answer) : undefined
      answer?.release()
      return () => lend(answers, kept)
    },
  }
}

function isCurrent(changes: TableChanges, kept: Kept): boolean {
  const now = changes.now()
  if (kept.checked === now) return true
  if (hasChanged(changes, kept)) return false
  kept.checked = now
  return true
}

const hasChanged = (changes: TableChanges, { source: { tables }, since }: Provenance): boolean =>
  tables === null || changes.lastOf(tables) > since

function forget(known: Map<string, Kept>, kept: Kept): void {
  if (known.get(kept.key) === kept) known.delete(kept.key)
  kept.piece?.free()
  for (const form of kept.forms?.values() ?? []) form.free()
  kept.piece = null
  kept.forms = null
}

/** Hands out an answer that is kept. */
function lend(answers: KeptAnswers, kept: Kept): ReadAnswer | undefined {
  const lent = kept.piece?.lend()
  if (lent === undefined) return undefined
  const { hash } = kept
  if (hash === null) {
    lent.release()
    return null
  }
  const { bytes, release } = lent
  const form = (name: string) => kept.forms?.get(name)?.lend()
  return { bytes, release, kept: { hash, form, keep: (name, other) => keepForm(answers, kept, name, other) } }
}

/** Whether an answer is still the one, and small enough. */
function mayBeKept(answers: KeptAnswers, key: string, from: Provenance, answer: ReadAnswer): boolean {
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
function keepCopy(answers: KeptAnswers, key: string, answer: ReadAnswer, from: Provenance): Kept | null {
  const { known, counts } = answers
  const hash = answer === null ? null : contentHash(answer.bytes)
  const kept: Kept = { ...from, key, hash, piece: null, forms: null, checked: from.since, size: 0, isUsed: false }
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
function keepForm(answers: KeptAnswers, kept: Kept, name: string, bytes: Uint8Array): void {
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
function take(answers: KeptAnswers, kept: Kept, bytes: Uint8Array, beside: number, evicted: () => void): Piece | null {
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

const sizeOf = (answer: ReadAnswer): number => overhead + (answer?.bytes.length ?? 0)

/** Admits the answers of all keys while there is room, then of those that come again: nobody may ask for the others a second time. */
function openAdmission(hasRoom: () => boolean): (key: string) => boolean {
  const refused = new LRUCache<string, true>({ maxSize: remembered, sizeCalculation: (_, key) => key.length })
  return (key) => {
    if (hasRoom() || refused.delete(key)) return true
    refused.set(key, true)
    return false
  }
}

/** A copy of an answer for those who wait for it together. */
function shared(answer: ReadAnswer): LendAnswer {
  if (answer === null) return () => null
  const copy = { bytes: Buffer.from(answer.bytes), release: () => {} }
  answer.release()
  return () => copy
}

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
