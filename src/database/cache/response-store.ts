// Cached responses in memory segments of bounded size. Each is valid until one of its tables changes. Separate buffers would cost more: V8
// collects evicted ones late, and the allocator fragments.

import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { ReadBytes, ReadResult } from '../database.js'
import type { TableChanges } from './table-changes.js'

export interface CacheLimits {
  /** Maximum bytes of all cached responses; 0 disables the cache. */
  readonly cacheBytes: number
  /** Maximum bytes of one cached response. */
  readonly cachedResponseBytes: number
}

/** The tables that a plan reads; null once the plan is unregistered, which invalidates its results. */
export interface PlanTables {
  tables: ReadonlySet<string> | null
}

interface ResultOrigin {
  readonly source: PlanTables
  /** The last change that the result is guaranteed to include. */
  readonly since: number
}

/** Lends a result to a caller, who releases it; undefined: it was evicted. */
export type LendResult = () => ReadResult | undefined

interface ResponseStore {
  /** The valid result for a key; undefined on a miss. */
  get(key: string): ReadResult | undefined
  /**
   * Copies and releases a result, caching the copy if it is current and fits. Returns undefined, without releasing, if the result is too
   * large, or neither cached nor shared (`isShared`).
   */
  keep(key: string, answer: ReadResult, from: ResultOrigin, isShared: boolean): LendResult | undefined
  isTooLarge(answer: ReadResult): boolean
}

interface CachedResult extends ResultOrigin {
  readonly key: string
  /** The `contentHash` of the bytes; null: the requested row does not exist. */
  readonly hash: string | null
  piece: Piece | null
  /** Other encodings of the bytes by name. */
  forms: Map<string, Piece> | null
  /** The last change at which it was validated. */
  checked: number
  /** Bytes of all encodings, with overhead. */
  size: number
  /** Whether it was hit since its segment was last considered for eviction. */
  isUsed: boolean
}

/** Estimated overhead in bytes of a result, and of each further encoding. */
const overhead = 500
const formOverhead = 300
/** Total length of remembered keys that were not admitted; a repeated key is admitted. */
const remembered = 1_000_000

const noTable = new Set<string>() as ReadonlySet<string>
const noBytes = new Uint8Array()

interface CachedResults {
  readonly changes: TableChanges
  readonly known: Map<string, CachedResult>
  readonly memory: CacheMemory
  readonly counts: CacheCounts | null
  /** Maximum bytes of a result with all its encodings. */
  readonly most: number
  /** The last change of unknown extent, which invalidated all earlier results. */
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
        // An unregistered plan does not count as invalidation.
        if (kept.source.tables !== null) counts?.outdated()
        return undefined
      }
      kept.isUsed = true
      return lendStored(answers, kept)
    },
    isTooLarge: (answer) => sizeOf(answer) > most,
    keep: (key, answer, from, isShared) => {
      const kept = isStorable(answers, key, from, answer) && admits(key) ? storeCopy(answers, key, answer, from) : null
      if (kept === null) return isShared && sizeOf(answer) <= most ? shared(answer) : undefined
      answer?.release()
      return () => lendStored(answers, kept)
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

function lendStored(answers: CachedResults, kept: CachedResult): ReadResult | undefined {
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

/** JavaScript stores up to two bytes per character. */
const keySize = (key: string): number => 2 * key.length

/** Caches a copy of a result. Returns null if it does not fit. */
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

/** Adds another encoding to a cached result if it fits. */
function storeForm(answers: CachedResults, kept: CachedResult, name: string, bytes: Uint8Array): void {
  if (kept.piece === null || kept.forms?.has(name)) return
  // The closure below must not retain `bytes`.
  const size = bytes.length + formOverhead
  const piece = take(answers, kept, bytes, formOverhead, () => {
    kept.size -= size
    kept.forms?.delete(name)
  })
  if (piece === null) return
  // Making room for this encoding may have evicted the result itself.
  if (kept.piece === null) {
    piece.free()
    return
  }
  kept.forms ??= new Map()
  kept.forms.set(name, piece)
}

/** Copies bytes that belong to a cached result. `evicted` is called on eviction. Returns null if they do not fit. */
function take(answers: CachedResults, kept: CachedResult, bytes: Uint8Array, ownerBytes: number, evicted: () => void): Piece | null {
  const { changes, memory, most } = answers
  if (kept.size + bytes.length + ownerBytes > most) return null
  const isWanted = () => {
    const wasUsed = kept.isUsed
    kept.isUsed = false
    return wasUsed && isCurrent(changes, kept)
  }
  const piece = memory.add(bytes, ownerBytes, { isWanted, evicted })
  if (piece === undefined) return null
  kept.size += bytes.length + ownerBytes
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

/** A copy of an uncached result for concurrent callers. */
function shared(answer: ReadResult): LendResult {
  if (answer === null) return () => null
  const copy = { bytes: Buffer.from(answer.bytes), release: () => {} }
  answer.release()
  return () => copy
}

/** Statistics since the start, and the current size. */
export interface CacheActivity {
  readonly hits: number
  /** Reads that looked for a cached result and found none. */
  readonly misses: number
  /** Reads that bypass the cache. */
  readonly bypasses: number
  readonly evictions: number
  /** Cached results that were found stale on lookup. */
  readonly outdated: number
  readonly entries: number
  /** Bytes of the entries with overhead. */
  readonly bytes: number
}

/** Receives cache events. */
export interface CacheCounts {
  /** A read arrived. */
  asked(): void
  /** A lookup, with its outcome. */
  found(isHit: boolean): void
  evicted(): void
  /** A lookup found a stale result. */
  outdated(): void
  /** Called when the cache is created; `held` returns its current size. */
  holds(held: () => Pick<CacheActivity, 'entries' | 'bytes'>): void
  activity(): CacheActivity
}

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

interface PieceOwner {
  /** Called when the piece is due for eviction: true if it was used since the last call and is still valid. */
  isWanted(): boolean
  evicted(): void
}

/** Bytes in cache memory. */
export interface Piece {
  /** The bytes, which do not move until released; undefined once the piece is evicted or freed. */
  lend(): ReadBytes | undefined
  free(): void
}

/** Bounded memory for pieces. */
interface CacheMemory {
  /**
   * Copies bytes into a piece. `ownerBytes`: overhead to account for. Evicts the oldest pieces to make room; wanted ones survive if they
   * fill less than half of their segment. Returns undefined if the memory is too small.
   */
  add(bytes: Uint8Array, ownerBytes: number, owner: PieceOwner): Piece | undefined
  /** Bytes of all pieces, including their owners' overhead. */
  taken(): number
  hasRoom(): boolean
}

interface Segment {
  readonly memory: Buffer
  readonly pieces: Placed[]
  /** Bytes in use, including freed pieces. */
  filled: number
  live: number
  /** Number of current borrowers. */
  holders: number
  isClosed: boolean
}

/** A piece and its location; null: evicted or freed. */
interface Placed {
  readonly owner: PieceOwner
  readonly ownerBytes: number
  at: { readonly segment: Segment; readonly bytes: Buffer } | null
}

/** Minimum number of segments, and maximum bytes per segment. */
const leastSegments = 16
const largestSegment = 4_000_000
/** Maximum pieces per segment. */
const mostPieces = 16_384
/** Pieces above this share of a segment get a dedicated segment. */
const ownFrom = 0.25
/** Maximum share of an evicted segment that survives. */
const mayStay = 0.5

interface Segments {
  /** Maximum bytes in total, and bytes per segment. */
  readonly most: number
  readonly segmentBytes: number
  /** Oldest first. */
  readonly all: Segment[]
  /** Buffers for reuse. */
  readonly spare: Buffer[]
  /** The segment being filled. */
  head: Segment | null
  /** Bytes of open segments, of closed segments still borrowed, and of owners. */
  reserved: number
  held: number
  ownerBytesTotal: number
}

/** Creates cache memory of up to `most` bytes, allocated on demand. */
export function createCacheMemory(most: number): CacheMemory {
  const segmentBytes = Math.max(1, Math.min(Math.floor(most / leastSegments), largestSegment))
  const segments: Segments = { most, segmentBytes, all: [], spare: [], head: null, reserved: 0, held: 0, ownerBytesTotal: 0 }
  return {
    add: (bytes, ownerBytes, owner) => {
      const { length } = bytes
      if (segments.held + (isOwn(segments, length) ? length : segmentBytes) + ownerBytes > most) return undefined
      while (totalWith(segments, length, ownerBytes) > most) {
        // Borrowed memory cannot be evicted.
        if (segments.all.length === 0) return undefined
        evictOldest(segments)
      }
      const placed: Placed = { owner, ownerBytes, at: null }
      place(placed, bytes, segmentFor(segments, length))
      segments.ownerBytesTotal += ownerBytes
      trimSpare(segments)
      return { lend: lend.bind(null, segments, placed), free: free.bind(null, segments, placed) }
    },
    taken: () => segments.all.reduce((sum, { filled }) => sum + filled, segments.ownerBytesTotal),
    hasRoom: () => total(segments) + segmentBytes <= most,
  }
}

const total = ({ reserved, held, ownerBytesTotal }: Segments): number => reserved + held + ownerBytesTotal

const isOwn = ({ segmentBytes }: Segments, length: number): boolean => length > segmentBytes * ownFrom

/** The segment being filled, if this piece fits into it. */
function filling({ head, segmentBytes }: Segments, length: number): Segment | null {
  return head !== null && head.filled + length <= segmentBytes && head.pieces.length < mostPieces ? head : null
}

/** Total bytes after adding another piece. */
function totalWith(segments: Segments, length: number, ownerBytes: number): number {
  const more = isOwn(segments, length) ? length : filling(segments, length) === null ? segments.segmentBytes : 0
  return total(segments) + ownerBytes + more
}

function segmentFor(segments: Segments, length: number): Segment {
  if (isOwn(segments, length)) return openSegment(segments, Buffer.allocUnsafeSlow(length))
  segments.head = filling(segments, length) ?? openSegment(segments, commonMemory(segments))
  return segments.head
}

const commonMemory = ({ spare, segmentBytes }: Segments): Buffer => spare.pop() ?? Buffer.allocUnsafeSlow(segmentBytes)

function openSegment(segments: Segments, memory: Buffer): Segment {
  const segment: Segment = { memory, pieces: [], filled: 0, live: 0, holders: 0, isClosed: false }
  segments.all.push(segment)
  segments.reserved += memory.length
  return segment
}

/** Closes a segment that was removed from the list. */
function closeSegment(segments: Segments, segment: Segment): void {
  segments.reserved -= segment.memory.length
  segment.isClosed = true
  if (segment === segments.head) segments.head = null
  if (segment.holders === 0) recycle(segments, segment)
  else segments.held += segment.memory.length
}

function recycle(segments: Segments, { memory }: Segment): void {
  if (memory.length !== segments.segmentBytes) return
  segments.spare.push(memory)
  trimSpare(segments)
}

/** Drops spare buffers beyond the limit. */
function trimSpare(segments: Segments): void {
  const { spare, segmentBytes, most } = segments
  while (spare.length > 0 && total(segments) + spare.length * segmentBytes > most) spare.pop()
}

function place(placed: Placed, bytes: Uint8Array, segment: Segment): void {
  const from = segment.filled
  segment.memory.set(bytes, from)
  segment.filled += bytes.length
  segment.live++
  segment.pieces.push(placed)
  placed.at = { segment, bytes: segment.memory.subarray(from, segment.filled) }
}

/** Evicts the oldest segment, moving its surviving pieces to a new one. */
function evictOldest(segments: Segments): void {
  const oldest = segments.all.shift()!
  const staying = evictUnwanted(segments, oldest)
  if (staying.length > 0 && oldest.memory.length !== segments.segmentBytes) {
    segments.all.push(oldest)
    return
  }
  // The bytes stay valid until they are moved below.
  const moving = staying.flatMap((placed) => (placed.at === null ? [] : [{ placed, bytes: placed.at.bytes }]))
  closeSegment(segments, oldest)
  if (moving.length === 0) return
  segments.head = openSegment(segments, commonMemory(segments))
  // In order: pieces that move within the same buffer must not overwrite each other.
  for (const { placed, bytes } of moving) place(placed, bytes, segments.head)
}

/** Evicts pieces that are unwanted or exceed the surviving share; returns the others. */
function evictUnwanted(segments: Segments, { pieces }: Segment): readonly Placed[] {
  const staying: Placed[] = []
  let bytes = 0
  for (const placed of pieces) {
    if (placed.at === null) continue
    const { length } = placed.at.bytes
    const after = bytes + length
    if ((after <= segments.segmentBytes * mayStay || isOwn(segments, length)) && placed.owner.isWanted()) {
      staying.push(placed)
      bytes = after
    } else {
      placed.at = null
      segments.ownerBytesTotal -= placed.ownerBytes
      placed.owner.evicted()
    }
  }
  return staying
}

function free(segments: Segments, placed: Placed): void {
  if (placed.at === null) return
  const { segment } = placed.at
  placed.at = null
  segments.ownerBytesTotal -= placed.ownerBytes
  segment.live--
  const index = segment.live === 0 ? segments.all.indexOf(segment) : -1
  if (index < 0) return
  segments.all.splice(index, 1)
  closeSegment(segments, segment)
}

function lend(segments: Segments, { at }: Placed): ReadBytes | undefined {
  if (at === null) return undefined
  const { segment, bytes } = at
  segment.holders++
  let isReleased = false
  const release = (): void => {
    if (isReleased) return
    isReleased = true
    segment.holders--
    if (segment.holders > 0 || !segment.isClosed) return
    segments.held -= segment.memory.length
    recycle(segments, segment)
  }
  return { bytes, release }
}

/** SHA-1 as base64url. Identifies versions; not a defence against forgery. */
export const contentHash = (bytes: Uint8Array): string => createHash('sha1').update(bytes).digest('base64url')
