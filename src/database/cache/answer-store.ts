// Answers in memory, bounded by their bytes. Each is returned for as long as nothing that it was read from has changed.
import { LRUCache } from 'lru-cache'
import { contentHash } from '../../runtime/content-hash.js'
import type { ReadAnswer, ReadBytes } from '../database.js'
import type { TableChanges } from './table-changes.js'

export interface CacheLimits {
  /** Bytes of all answers that are kept; 0: none is. */
  readonly cacheBytes: number
  /** Bytes of one answer that is kept. */
  readonly cachedAnswerBytes: number
}

/** Where an answer comes from. */
export interface Provenance {
  readonly tables: ReadonlySet<string>
  /** The last change that it is certain to contain. */
  readonly since: number
}

export interface AnswerStore {
  /** The answer of a key, if it is still the one; undefined: none is kept. */
  get(key: string): ReadAnswer | undefined
  /**
   * Copies an answer, releases it, and keeps the copy if it is still the one and has room. Returns the copy; undefined, with nothing released, where
   * the answer is too large to be kept.
   */
  keep(key: string, answer: ReadAnswer, source: Provenance): ReadAnswer | undefined
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
/** Keys of answers that were not kept, of which one that comes again is. */
const remembered = 10_000

const noTable: ReadonlySet<string> = new Set()

export function openAnswerStore(changes: TableChanges, { cacheBytes, cachedAnswerBytes }: CacheLimits): AnswerStore {
  const known = new LRUCache<string, Kept>({ maxSize: cacheBytes, maxEntrySize: cachedAnswerBytes, sizeCalculation: ({ size }) => size })
  const refused = new LRUCache<string, true>({ max: remembered })
  /** The last change of unknown extent: nothing that was kept before is valid. */
  let cleared = 0

  function isCurrent(kept: Kept): boolean {
    const now = changes.now()
    if (kept.checked === now) return true
    if (changes.lastOf(kept.tables) > kept.since) return false
    kept.checked = now
    return true
  }

  /** Whether an answer has room without putting out others for one that nobody may ask for again. */
  function isWelcome(key: string): boolean {
    if (known.calculatedSize < cacheBytes * fullFrom || refused.delete(key)) return true
    refused.set(key, true)
    return false
  }

  /** Counts another form of an answer that is kept. */
  function grow(key: string, answer: ReadBytes, bytes: number): void {
    const kept = known.peek(key)
    if (kept?.answer !== answer) return
    known.delete(key)
    kept.size += bytes
    known.set(key, kept)
  }

  return {
    get: (key) => {
      const kept = known.get(key)
      if (kept === undefined || isCurrent(kept)) return kept?.answer
      known.delete(key)
      return undefined
    },
    keep: (key, answer, source) => {
      const size = overhead + key.length + (answer?.bytes.length ?? 0)
      if (size > cachedAnswerBytes) return undefined
      const copy: ReadAnswer = answer === null ? null : copyOf(answer, (form) => grow(key, copy!, form.length))
      const kept: Kept = { ...source, answer: copy, checked: source.since, size }
      if (!isCurrent(kept)) return copy
      const last = changes.lastOf(noTable)
      if (last > cleared) known.clear()
      cleared = last
      if (isWelcome(key)) known.set(key, kept)
      return copy
    },
  }
}

/** An answer in memory of its own. `grown` is told of each further form of it. */
function copyOf(answer: ReadBytes, grown: (form: Uint8Array) => void): ReadBytes {
  // Slow: of memory that small buffers share, one of them would keep all.
  const bytes = Buffer.allocUnsafeSlow(answer.bytes.length)
  bytes.set(answer.bytes)
  answer.release()
  const forms = new Map<string, Uint8Array>()
  return {
    bytes,
    release: () => {},
    kept: {
      hash: contentHash(bytes),
      form: (name) => forms.get(name),
      keep: (name, form) => {
        forms.set(name, form)
        grown(form)
      },
    },
  }
}
