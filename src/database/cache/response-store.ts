// Cached responses in memory segments of bounded size. Each is valid until one of its tables changes. Separate buffers would cost more: V8
// collects evicted ones late, and the allocator fragments.

import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { ReadBytes, ReadResult } from '../database.js'
import type { TableChanges } from './table-changes.js'

interface CacheLimits {
  /** Maximum bytes of all cached responses. */
  readonly cacheBytes: number
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
  add(key: string, result: ReadResult, from: ResultOrigin, isShared: boolean): LendResult | undefined
  isTooLarge(result: ReadResult): boolean
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
  /** True if it was hit since its segment was last considered for eviction. */
  isUsed: boolean
}

/** Estimated overhead in bytes of a result, and of each further encoding. */
const overhead = 500
const formOverhead = 300
/** Total length of remembered keys that were not admitted; a repeated key is admitted. */
const maxRememberedKeyChars = 1_000_000

const noTables = new Set<string>() as ReadonlySet<string>
const noBytes = new Uint8Array()

interface CachedResults {
  readonly changes: TableChanges
  readonly known: Map<string, CachedResult>
  readonly memory: CacheMemory
  readonly counts: CacheCounts | null
  /** Maximum bytes of a result with all its encodings. */
  readonly maxBytes: number
  /** The last change of unknown extent, which invalidated all earlier results. */
  cleared: number
}

export function createResponseStore(changes: TableChanges, limits: CacheLimits, counts: CacheCounts | null = null): ResponseStore {
  const maxBytes = Math.min(limits.cacheBytes, limits.cachedResponseBytes)
  const memory = createCacheMemory(limits.cacheBytes)
  const known = new Map<string, CachedResult>()
  const cache: CachedResults = { changes, known, memory, counts, maxBytes, cleared: 0 }
  const admits = createAdmission(memory.hasRoom)
  counts?.holds(() => ({ entries: known.size, bytes: memory.taken() }))
  return {
    get: (key) => {
      const entry = known.get(key)
      if (entry === undefined) return undefined
      if (!isCurrent(changes, entry)) {
        forget(known, entry)
        // An unregistered plan does not count as invalidation.
        if (entry.source.tables !== null) counts?.outdated()
        return undefined
      }
      entry.isUsed = true
      return lendStored(cache, entry)
    },
    isTooLarge: (result) => sizeOf(result) > maxBytes,
    add: (key, result, from, isShared) => {
      const entry = isStorable(cache, key, from, result) && admits(key) ? storeCopy(cache, key, result, from) : null
      if (entry === null) return isShared && sizeOf(result) <= maxBytes ? shared(result) : undefined
      result?.release()
      return () => lendStored(cache, entry)
    },
  }
}

function isCurrent(changes: TableChanges, entry: CachedResult): boolean {
  const now = changes.now()
  if (entry.checked === now) return true
  if (hasChanged(changes, entry)) return false
  entry.checked = now
  return true
}

const hasChanged = (changes: TableChanges, { source: { tables }, since }: ResultOrigin): boolean =>
  tables === null || changes.lastOf(tables) > since

function forget(known: Map<string, CachedResult>, entry: CachedResult): void {
  if (known.get(entry.key) === entry) known.delete(entry.key)
  entry.piece?.free()
  for (const form of entry.forms?.values() ?? []) form.free()
  entry.piece = null
  entry.forms = null
}

function lendStored(cache: CachedResults, entry: CachedResult): ReadResult | undefined {
  const lent = entry.piece?.lend()
  if (lent === undefined) return undefined
  const { hash } = entry
  if (hash === null) {
    lent.release()
    return null
  }
  const { bytes, release } = lent
  const form = (name: string) => entry.forms?.get(name)?.lend()
  return { bytes, release, cached: { hash, form, store: (name, other) => storeForm(cache, entry, name, other) } }
}

function isStorable(cache: CachedResults, key: string, from: ResultOrigin, result: ReadResult): boolean {
  const { changes, known, maxBytes } = cache
  if (hasChanged(changes, from)) return false
  const last = changes.lastOf(noTables)
  if (last > cache.cleared) for (const entry of known.values()) forget(known, entry)
  cache.cleared = last
  return sizeOf(result) + keySize(key) <= maxBytes
}

/** JavaScript stores up to two bytes per character. */
const keySize = (key: string): number => 2 * key.length

/** Caches a copy of a result. Returns null if it does not fit. */
function storeCopy(cache: CachedResults, key: string, result: ReadResult, from: ResultOrigin): CachedResult | null {
  const { known, counts } = cache
  const hash = result === null ? null : contentHash(result.bytes)
  const entry: CachedResult = { ...from, key, hash, piece: null, forms: null, checked: from.since, size: 0, isUsed: false }
  entry.piece = take(cache, entry, result?.bytes ?? noBytes, overhead + keySize(key), () => {
    forget(known, entry)
    counts?.evicted()
  })
  if (entry.piece === null) return null
  const before = known.get(key)
  if (before !== undefined) forget(known, before)
  known.set(key, entry)
  return entry
}

/** Adds another encoding to a cached result if it fits. */
function storeForm(cache: CachedResults, entry: CachedResult, name: string, bytes: Uint8Array): void {
  if (entry.piece === null || entry.forms?.has(name)) return
  // The closure below must not retain `bytes`.
  const size = bytes.length + formOverhead
  const piece = take(cache, entry, bytes, formOverhead, () => {
    entry.size -= size
    entry.forms?.delete(name)
  })
  if (piece === null) return
  // Making room for this encoding may have evicted the result itself.
  if (entry.piece === null) {
    piece.free()
    return
  }
  entry.forms ??= new Map()
  entry.forms.set(name, piece)
}

/** Copies bytes that belong to a cached result. `evicted` is called on eviction. Returns null if they do not fit. */
function take(cache: CachedResults, entry: CachedResult, bytes: Uint8Array, ownerBytes: number, evicted: () => void): Piece | null {
  const { changes, memory, maxBytes } = cache
  if (entry.size + bytes.length + ownerBytes > maxBytes) return null
  const isWanted = () => {
    const wasUsed = entry.isUsed
    entry.isUsed = false
    return wasUsed && isCurrent(changes, entry)
  }
  const piece = memory.add(bytes, ownerBytes, { isWanted, evicted })
  if (piece === undefined) return null
  entry.size += bytes.length + ownerBytes
  return piece
}

const sizeOf = (result: ReadResult): number => overhead + (result?.bytes.length ?? 0)

/** Admits all keys while there is room, then only repeated ones. */
function createAdmission(hasRoom: () => boolean): (key: string) => boolean {
  const refused = new LRUCache<string, true>({ maxSize: maxRememberedKeyChars, sizeCalculation: (_, key) => key.length })
  return (key) => {
    if (hasRoom() || refused.delete(key)) return true
    refused.set(key, true)
    return false
  }
}

/** A copy of an uncached result for concurrent callers. */
function shared(result: ReadResult): LendResult {
  if (result === null) return () => null
  const copy = { bytes: Buffer.from(result.bytes), release: () => {} }
  result.release()
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
  requested(): void
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
  let requests = 0
  let hits = 0
  let misses = 0
  let evictions = 0
  let outdated = 0
  let held: () => Pick<CacheActivity, 'entries' | 'bytes'> = () => ({ entries: 0, bytes: 0 })
  return {
    requested: () => void requests++,
    found: (isHit) => void (isHit ? hits++ : misses++),
    evicted: () => void evictions++,
    outdated: () => void outdated++,
    holds: (given) => {
      held = given
    },
    activity: () => ({ hits, misses, bypasses: requests - hits - misses, evictions, outdated, ...held() }),
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
  readonly pieces: StoredPiece[]
  /** Bytes in use, including freed pieces. */
  filled: number
  live: number
  /** Number of current borrowers. */
  holders: number
  isClosed: boolean
}

/** A piece and its location; null: evicted or freed. */
interface StoredPiece {
  readonly owner: PieceOwner
  readonly ownerBytes: number
  at: { readonly segment: Segment; readonly bytes: Buffer } | null
}

const minSegments = 16
const maxSegmentBytes = 4_000_000
const maxPieces = 16_384
/** Pieces above this share of a segment get a dedicated segment. */
const dedicatedFrom = 0.25
/** Maximum share of an evicted segment that survives. */
const maxSurviving = 0.5

interface Segments {
  /** Maximum bytes in total, and bytes per segment. */
  readonly maxBytes: number
  readonly segmentBytes: number
  /** Oldest first. */
  readonly all: Segment[]
  /** Buffers for reuse. */
  readonly spare: Buffer[]
  head: Segment | null
  /** Bytes of open segments, of closed segments still borrowed, and of owners. */
  reserved: number
  held: number
  ownerBytesTotal: number
}

/** Creates cache memory of up to `maxBytes`, allocated on demand. */
export function createCacheMemory(maxBytes: number): CacheMemory {
  const segmentBytes = Math.max(1, Math.min(Math.floor(maxBytes / minSegments), maxSegmentBytes))
  const segments: Segments = { maxBytes, segmentBytes, all: [], spare: [], head: null, reserved: 0, held: 0, ownerBytesTotal: 0 }
  return {
    add: (bytes, ownerBytes, owner) => {
      const { length } = bytes
      if (segments.held + (isDedicated(segments, length) ? length : segmentBytes) + ownerBytes > maxBytes) return undefined
      while (totalWith(segments, length, ownerBytes) > maxBytes) {
        // Borrowed memory cannot be evicted.
        if (segments.all.length === 0) return undefined
        evictOldest(segments)
      }
      const piece: StoredPiece = { owner, ownerBytes, at: null }
      appendPiece(piece, bytes, segmentFor(segments, length))
      segments.ownerBytesTotal += ownerBytes
      trimSpare(segments)
      return { lend: lend.bind(null, segments, piece), free: free.bind(null, segments, piece) }
    },
    taken: () => segments.all.reduce((sum, { filled }) => sum + filled, segments.ownerBytesTotal),
    hasRoom: () => total(segments) + segmentBytes <= maxBytes,
  }
}

const total = ({ reserved, held, ownerBytesTotal }: Segments): number => reserved + held + ownerBytesTotal

const isDedicated = ({ segmentBytes }: Segments, length: number): boolean => length > segmentBytes * dedicatedFrom

/** The segment being filled, if this piece fits into it. */
function filling({ head, segmentBytes }: Segments, length: number): Segment | null {
  return head !== null && head.filled + length <= segmentBytes && head.pieces.length < maxPieces ? head : null
}

/** Total bytes after adding another piece. */
function totalWith(segments: Segments, length: number, ownerBytes: number): number {
  const more = isDedicated(segments, length) ? length : filling(segments, length) === null ? segments.segmentBytes : 0
  return total(segments) + ownerBytes + more
}

function segmentFor(segments: Segments, length: number): Segment {
  if (isDedicated(segments, length)) return openSegment(segments, Buffer.allocUnsafeSlow(length))
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
  const { spare, segmentBytes, maxBytes } = segments
  while (spare.length > 0 && total(segments) + spare.length * segmentBytes > maxBytes) spare.pop()
}

function appendPiece(piece: StoredPiece, bytes: Uint8Array, segment: Segment): void {
  const from = segment.filled
  segment.memory.set(bytes, from)
  segment.filled += bytes.length
  segment.live++
  segment.pieces.push(piece)
  piece.at = { segment, bytes: segment.memory.subarray(from, segment.filled) }
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
  const moving = staying.flatMap((piece) => (piece.at === null ? [] : [{ piece, bytes: piece.at.bytes }]))
  closeSegment(segments, oldest)
  if (moving.length === 0) return
  segments.head = openSegment(segments, commonMemory(segments))
  // In order: pieces that move within the same buffer must not overwrite each other.
  for (const { piece, bytes } of moving) appendPiece(piece, bytes, segments.head)
}

/** Evicts pieces that are unwanted or exceed the surviving share; returns the others. */
function evictUnwanted(segments: Segments, { pieces }: Segment): readonly StoredPiece[] {
  const staying: StoredPiece[] = []
  let bytes = 0
  for (const piece of pieces) {
    if (piece.at === null) continue
    const { length } = piece.at.bytes
    const after = bytes + length
    if ((after <= segments.segmentBytes * maxSurviving || isDedicated(segments, length)) && piece.owner.isWanted()) {
      staying.push(piece)
      bytes = after
    } else {
      piece.at = null
      segments.ownerBytesTotal -= piece.ownerBytes
      piece.owner.evicted()
    }
  }
  return staying
}

function free(segments: Segments, piece: StoredPiece): void {
  if (piece.at === null) return
  const { segment } = piece.at
  piece.at = null
  segments.ownerBytesTotal -= piece.ownerBytes
  segment.live--
  const index = segment.live === 0 ? segments.all.indexOf(segment) : -1
  if (index < 0) return
  segments.all.splice(index, 1)
  closeSegment(segments, segment)
}

function lend(segments: Segments, { at }: StoredPiece): ReadBytes | undefined {
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
