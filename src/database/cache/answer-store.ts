// Answers in memory, bounded by their bytes. Each is returned for as long as nothing that it was read from has changed.
import { LRUCache } from 'lru-cache'
import { contentHash } from '../../runtime/content-hash.js'
import type { KeptForms, ReadAnswer } from '../database.js'
import { openAnswerMemory, type Piece } from './answer-memory.js'
import type { CacheCounts } from './cache-counts.js'
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

export function openAnswerStore(changes: TableChanges, limits: CacheLimits, counts: CacheCounts | null = null): AnswerStore {
  const most = Math.min(limits.cacheBytes, limits.cachedAnswerBytes)
  const known = new Map<string, Kept>()
  const memory = openAnswerMemory(limits.cacheBytes)
  const admits = openAdmission(memory.hasRoom)
  /** The last change of unknown extent: nothing that was kept before is valid. */
  let cleared = 0
  counts?.holds(() => ({ entries: known.size, bytes: memory.taken() }))

  function isCurrent(kept: Kept): boolean {
    const now = changes.now()
    if (kept.checked === now) return true
    const { tables } = kept.source
    if (tables === null || changes.lastOf(tables) > kept.since) return false
    kept.checked = now
    return true
  }

  function forget(kept: Kept): void {
    if (known.get(kept.key) === kept) known.delete(kept.key)
    kept.piece?.free()
    for (const form of kept.forms?.values() ?? []) form.free()
    kept.piece = null
    kept.forms = null
  }

  /** Copies bytes that belong to an answer. `evict`: what is no longer there with them. Returns null where they have no room. */
  function take(kept: Kept, bytes: Uint8Array, beside: number, evict: () => void): Piece | null {
    if (kept.size + bytes.length + beside > most) return null
    const isWanted = () => {
      const wasUsed = kept.isUsed
      kept.isUsed = false
      return wasUsed && isCurrent(kept)
    }
    const piece = memory.add(bytes, beside, { isWanted, evicted: evict })
    if (piece === undefined) return null
    kept.size += bytes.length + beside
    return piece
  }

  /** Keeps another form of an answer that is kept. */
  function keepForm(kept: Kept, name: string, bytes: Uint8Array): void {
    if (kept.piece === null || kept.forms?.has(name)) return
    kept.isUsed = true
    const piece = take(kept, bytes, formOverhead, () => kept.forms?.delete(name))
    if (piece === null) return
    // It may have been evicted for its own form.
    if (kept.piece === null) {
      piece.free()
      return
    }
    kept.forms ??= new Map()
    kept.forms.set(name, piece)
  }

  function lend(kept: Kept): ReadAnswer | undefined {
    const lent = kept.piece?.lend()
    if (lent === undefined || kept.hash === null) return lent && null
    const forms: KeptForms = {
      hash: kept.hash,
      form: (name) => kept.forms?.get(name)?.lend(),
      keep: (name, bytes) => keepForm(kept, name, bytes),
    }
    return { ...lent, kept: forms }
  }

  /** Whether an answer is kept: it is still the one, and has room. */
  function isToBeKept(key: string, from: Provenance, answer: ReadAnswer): boolean {
    const { tables } = from.source
    if (tables === null || changes.lastOf(tables) > from.since) return false
    const last = changes.lastOf(noTable)
    if (last > cleared) for (const kept of known.values()) forget(kept)
    cleared = last
    return sizeOf(answer) + 2 * key.length <= most && admits(key)
  }

  function keepCopy(key: string, answer: ReadAnswer, from: Provenance): Kept | null {
    const hash = answer === null ? null : contentHash(answer.bytes)
    const kept: Kept = { ...from, key, hash, piece: null, forms: null, checked: from.since, size: 0, isUsed: false }
    // A character of a key takes two bytes at most.
    kept.piece = take(kept, answer?.bytes ?? noBytes, overhead + 2 * key.length, () => {
      forget(kept)
      counts?.evicted()
    })
    if (kept.piece === null) return null
    const before = known.get(key)
    if (before !== undefined) forget(before)
    known.set(key, kept)
    return kept
  }

  return {
    get: (key) => {
      const kept = known.get(key)
      if (kept === undefined) return undefined
      if (!isCurrent(kept)) {
        forget(kept)
        return undefined
      }
      kept.isUsed = true
      return lend(kept)
    },
    isTooLarge: (answer) => sizeOf(answer) > most,
    keep: (key, answer, from, isShared) => {
      const kept = isToBeKept(key, from, answer) ? keepCopy(key, answer, from) : null
      if (kept !== null) {
        answer?.release()
        return () => lend(kept)
      }
      return isShared && sizeOf(answer) <= most ? shared(answer) : undefined
    },
  }
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
