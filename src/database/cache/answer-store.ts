// Answers in memory, bounded by their bytes. Each is returned for as long as nothing that it was read from has changed.
import { LRUCache } from 'lru-cache'
import { contentHash } from '../../runtime/content-hash.js'
import type { ReadAnswer, ReadBytes } from '../database.js'
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

export interface AnswerStore {
  /** The answer of a key, if it is still the one; undefined: none is kept. */
  get(key: string): ReadAnswer | undefined
  /**
   * Copies an answer, releases it, and keeps the copy if it is still the one and has room. Returns the copy; undefined, with nothing released, where
   * the answer is too large to be kept, or is not kept and needed by nobody else (`isShared`).
   */
  keep(key: string, answer: ReadAnswer, from: Provenance, isShared: boolean): ReadAnswer | undefined
  /** Whether an answer is too large to be kept. */
  isTooLarge(answer: ReadAnswer): boolean
}

interface Kept extends Provenance {
  readonly answer: ReadAnswer
  /** The last change for which it was seen to be the one. */
  checked: number
  size: number
}

/** Bytes that an answer takes besides its key and its own bytes, about. */
const overhead = 500
/** Once so much of the room is taken, an answer is kept only when it is asked for again. */
const fullFrom = 0.9
/** Characters of the keys of answers that were not kept, of which one that comes again is. */
const remembered = 1_000_000

const noTable: ReadonlySet<string> = new Set()

export function openAnswerStore(changes: TableChanges, limits: CacheLimits, counts: CacheCounts | null = null): AnswerStore {
  const { cacheBytes } = limits
  const most = Math.min(cacheBytes, limits.cachedAnswerBytes)
  const known = openKept(cacheBytes, most, counts)
  const admits = openAdmission(() => known.calculatedSize < cacheBytes * fullFrom)
  /** The last change of unknown extent: nothing that was kept before is valid. */
  let cleared = 0

  function isCurrent(kept: Kept): boolean {
    const now = changes.now()
    if (kept.checked === now) return true
    const { tables } = kept.source
    if (tables === null || changes.lastOf(tables) > kept.since) return false
    kept.checked = now
    return true
  }

  /** Counts another form of an answer that is kept. Returns false, and counts nothing, where it has no room. */
  function grow(key: string, answer: ReadBytes, bytes: number): boolean {
    const kept = known.peek(key)
    if (kept?.answer !== answer || kept.size + bytes > most) return false
    known.delete(key)
    kept.size += bytes
    known.set(key, kept)
    return true
  }

  /** Whether an answer is kept: it is still the one, and has room. */
  function isKept(key: string, kept: Kept): boolean {
    if (!isCurrent(kept)) return false
    const last = changes.lastOf(noTable)
    if (last > cleared) known.clear()
    cleared = last
    return admits(key)
  }

  const sizeOf = (answer: ReadAnswer): number => overhead + (answer?.bytes.length ?? 0)

  return {
    get: (key) => {
      const kept = known.get(key)
      if (kept === undefined || isCurrent(kept)) return kept?.answer
      known.delete(key)
      return undefined
    },
    isTooLarge: (answer) => sizeOf(answer) > most,
    keep: (key, answer, from, isShared) => {
      // A character of a key takes two bytes at most.
      const kept: Kept = { ...from, answer, checked: from.since, size: sizeOf(answer) + 2 * key.length }
      const isToBeKept = kept.size <= most && isKept(key, kept)
      if (sizeOf(answer) > most || !(isToBeKept || isShared)) return undefined
      const copy: ReadAnswer = answer === null ? null : copyOf(answer, (bytes) => grow(key, copy!, bytes))
      if (isToBeKept) known.set(key, { ...kept, answer: copy })
      return copy
    },
  }
}

/** What is kept, at most so many bytes, and so many of one answer. */
function openKept(all: number, one: number, counts: CacheCounts | null): LRUCache<string, Kept> {
  const known = new LRUCache<string, Kept>({
    maxSize: all,
    maxEntrySize: one,
    sizeCalculation: ({ size }) => size,
    ...(counts !== null && { dispose: (_kept, _key, reason) => reason === 'evict' && counts.evicted() }),
  })
  counts?.holds(() => ({ entries: known.size, bytes: known.calculatedSize }))
  return known
}

/** Admits the answers of all keys while there is room, then of those that come again: nobody may ask for the others a second time. */
function openAdmission(hasRoom: () => boolean): (key: string) => boolean {
  const refused = new LRUCache<string, true>({ maxSize: remembered, sizeCalculation: (_, key) => key.length })
  return (key) => {
    if (hasRoom() || refused.delete(key)) return true
    refused.set(key, true)
    return false
  }
}

/** Bytes in memory of their own: of memory that buffers share, one of them would keep all. */
function ownBytes(given: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafeSlow(given.length)
  bytes.set(given)
  return bytes
}

/** An answer in memory of its own. `hasRoom` is asked for each further form of it. */
function copyOf(answer: ReadBytes, hasRoom: (bytes: number) => boolean): ReadBytes {
  const bytes = ownBytes(answer.bytes)
  answer.release()
  const forms = new Map<string, Uint8Array>()
  return {
    bytes,
    release: () => {},
    kept: {
      hash: contentHash(bytes),
      form: (name) => forms.get(name),
      keep: (name, form) => {
        if (!forms.has(name) && hasRoom(form.length)) forms.set(name, ownBytes(form))
      },
    },
  }
}
