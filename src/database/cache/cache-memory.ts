// Memory for cached results: large segments, filled one after the other and reused. Separate buffers would cost more: V8 collects evicted
// ones late, and the system's allocator fragments.
import type { ReadBytes } from '../database.js'

export interface PieceOwner {
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
export interface CacheMemory {
  /**
   * Copies bytes into a piece. `beside`: additional bytes that its owner takes, which count too. The oldest pieces are evicted to make
   * room; wanted ones survive if they take less than half of their segment. Undefined: the memory is too small.
   */
  add(bytes: Uint8Array, beside: number, owner: PieceOwner): Piece | undefined
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
  readonly beside: number
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
  besides: number
}

/** Opens memory of at most `most` bytes. It grows as it is needed. */
export function createCacheMemory(most: number): CacheMemory {
  const segmentBytes = Math.max(1, Math.min(Math.floor(most / leastSegments), largestSegment))
  const segments: Segments = { most, segmentBytes, all: [], spare: [], head: null, reserved: 0, held: 0, besides: 0 }
  return {
    add: (bytes, beside, owner) => {
      const { length } = bytes
      if (segments.held + (isOwn(segments, length) ? length : segmentBytes) + beside > most) return undefined
      while (totalWith(segments, length, beside) > most) {
        // Borrowed memory does not make room.
        if (segments.all.length === 0) return undefined
        evictOldest(segments)
      }
      const placed: Placed = { owner, beside, at: null }
      place(placed, bytes, segmentFor(segments, length))
      segments.besides += beside
      trimSpare(segments)
      return { lend: lend.bind(null, segments, placed), free: free.bind(null, segments, placed) }
    },
    taken: () => segments.all.reduce((sum, { filled }) => sum + filled, segments.besides),
    hasRoom: () => total(segments) + segmentBytes <= most,
  }
}

/** Bytes that are taken. */
const total = ({ reserved, held, besides }: Segments): number => reserved + held + besides

const isOwn = ({ segmentBytes }: Segments, length: number): boolean => length > segmentBytes * ownFrom

/** The segment that is filled next, if it has room for this. */
function filling({ head, segmentBytes }: Segments, length: number): Segment | null {
  return head !== null && head.filled + length <= segmentBytes && head.pieces.length < mostPieces ? head : null
}

/** Bytes that are taken together with a further piece. */
function totalWith(segments: Segments, length: number, beside: number): number {
  const more = isOwn(segments, length) ? length : filling(segments, length) === null ? segments.segmentBytes : 0
  return total(segments) + beside + more
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
      segments.besides -= placed.beside
      placed.owner.evicted()
    }
  }
  return staying
}

function free(segments: Segments, placed: Placed): void {
  if (placed.at === null) return
  const { segment } = placed.at
  placed.at = null
  segments.besides -= placed.beside
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
