// Responses in memory, in segments with a limit in bytes. Each is valid as long as its tables are unchanged. Separate buffers would cost
// more: V8 collects evicted ones late, and the system's allocator fragments.

import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { ReadBytes, ReadResult } from '../database.js'
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

interface ResultOrigin {
  readonly source: PlanTables
  /** The last change that it is certain to contain. */
  readonly since: number
}

/** Hands out an answer to one who asked, who releases it; undefined: it is gone. */
export type LendResult = () => ReadResult | undefined

interface ResponseStore {
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

/** Hands out an answer that is kept. */
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

interface PieceOwner {
  /** Called where a piece would be evicted: true if it was used since the last call, and may be used again. */
  isWanted(): boolean
  /** The piece was evicted. */
  evicted(): void
}

/** Bytes in this memory. */
export interface Piece {
  /** The bytes, which do not move until they are released; undefined once the piece is gone. */
  lend(): ReadBytes | undefined
  /** Ends the piece. */
  free(): void
}

/** Memory for pieces, bounded by its bytes. */
interface CacheMemory {
  /**
   * Copies bytes into a piece. `ownerBytes`: memory of its owner, which counts as well. The oldest pieces are evicted to make
   * room; wanted ones survive if they take less than half of their segment. Undefined: the memory is too small.
   */
  add(bytes: Uint8Array, ownerBytes: number, owner: PieceOwner): Piece | undefined
  /** Bytes of all pieces, including those that owners take in addition. */
  taken(): number
  hasRoom(): boolean
}

/** A part of the memory. */
interface Segment {
  readonly memory: Buffer
  readonly pieces: Placed[]
  /** Bytes of its memory that are filled. */
  filled: number
  live: number
  /** Number of current borrowers of its bytes. */
  holders: number
  isClosed: boolean
}

/** A piece, and where it is; null: it is gone. */
interface Placed {
  readonly owner: PieceOwner
  readonly ownerBytes: number
  at: { readonly segment: Segment; readonly bytes: Buffer } | null
}

/** Minimum number of segments, and maximum bytes of one. */
const leastSegments = 16
const largestSegment = 4_000_000
/** The most pieces in a segment. */
const mostPieces = 16_384
/** Pieces above this share of a segment get a dedicated segment. */
const ownFrom = 0.25
/** The part of a segment that may stay where the rest of it is evicted. */
const mayStay = 0.5

/** All segments. */
interface Segments {
  /** Bytes of all that may be taken, and of one segment. */
  readonly most: number
  readonly segmentBytes: number
  /** From the oldest to the newest. */
  readonly all: Segment[]
  /** Memory to be used again. */
  readonly spare: Buffer[]
  /** The segment that is being filled. */
  head: Segment | null
  /** Bytes of all open segments, of closed segments that are still borrowed, and of owners. */
  reserved: number
  held: number
  ownerBytesTotal: number
}

/** Opens memory of at most `most` bytes. It grows as it is needed. */
export function createCacheMemory(most: number): CacheMemory {
  const segmentBytes = Math.max(1, Math.min(Math.floor(most / leastSegments), largestSegment))
  const segments: Segments = { most, segmentBytes, all: [], spare: [], head: null, reserved: 0, held: 0, ownerBytesTotal: 0 }
  return {
    add: (bytes, ownerBytes, owner) => {
      const { length } = bytes
      if (segments.held + (isOwn(segments, length) ? length : segmentBytes) + ownerBytes > most) return undefined
      while (totalWith(segments, length, ownerBytes) > most) {
        // Borrowed memory does not make room.
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

/** Bytes that are taken. */
const total = ({ reserved, held, ownerBytesTotal }: Segments): number => reserved + held + ownerBytesTotal

const isOwn = ({ segmentBytes }: Segments, length: number): boolean => length > segmentBytes * ownFrom

/** The segment that is filled next, if it has room for this. */
function filling({ head, segmentBytes }: Segments, length: number): Segment | null {
  return head !== null && head.filled + length <= segmentBytes && head.pieces.length < mostPieces ? head : null
}

/** Bytes that are taken together with a further piece. */
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

/** Ends a segment that was taken from the list. */
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

/** Gives memory back that is beyond what may be taken. */
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

/** Evicts the pieces of the oldest segment, or moves them to a new one. */
function evictOldest(segments: Segments): void {
  const oldest = segments.all.shift()!
  const staying = evictUnwanted(segments, oldest)
  if (staying.length > 0 && oldest.memory.length !== segments.segmentBytes) {
    segments.all.push(oldest)
    return
  }
  // Their bytes stay where they are until they are moved.
  const moving = staying.flatMap((placed) => (placed.at === null ? [] : [{ placed, bytes: placed.at.bytes }]))
  closeSegment(segments, oldest)
  if (moving.length === 0) return
  segments.head = openSegment(segments, commonMemory(segments))
  // In order, so that pieces that move within the same memory do not overwrite each other.
  for (const { placed, bytes } of moving) place(placed, bytes, segments.head)
}

/** Evicts pieces that are unwanted or do not fit into a new segment; returns the others. */
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

/** The SHA-1 of bytes, as base64url. It distinguishes versions; it does not protect from forged bytes. */
export const contentHash = (bytes: Uint8Array): string => createHash('sha1').update(bytes).digest('base64url')
