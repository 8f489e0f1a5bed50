// The memory of kept answers: large segments that are filled one after the other and used again. V8 collects what is evicted late, and the
// system's allocator keeps holes between buffers of many sizes.
import type { ReadBytes } from '../database.js'

/** What a piece belongs to. */
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
export interface AnswerMemory {
  /**
   * Copies bytes into a piece. `beside`: the bytes that its owner takes besides, which count too. The oldest pieces are evicted for it; those that
   * are wanted stay, as far as they take less than half of their segment. Undefined: all the memory is not enough.
   */
  add(bytes: Uint8Array, beside: number, owner: PieceOwner): Piece | undefined
  /** The bytes of all pieces, with what their owners take besides. */
  taken(): number
  /** Whether a piece evicts no others. */
  hasRoom(): boolean
}

/** A part of the memory. */
interface Segment {
  readonly memory: Buffer
  readonly pieces: Placed[]
  /** Bytes of its memory that are filled, and with what the owners of its pieces take besides. */
  filled: number
  weight: number
  live: number
  /** How many hold bytes in it. */
  holders: number
  isClosed: boolean
}

/** A piece, and where it is; null: it is gone. */
interface Placed {
  readonly owner: PieceOwner
  readonly beside: number
  at: { readonly segment: Segment; readonly bytes: Buffer } | null
}

/** How many segments the memory has at least, and the most bytes of one. */
const [leastSegments, largestSegment] = [16, 4_000_000]
/** The part of a segment beyond which a piece has one of its own size. */
const ownFrom = 0.25
/** The part of a segment that may stay where the rest of it is evicted. */
const mayStay = 0.5

/** Opens memory of at most `most` bytes. It grows as it is needed. */
export function openAnswerMemory(most: number): AnswerMemory {
  const segmentBytes = Math.max(1, Math.min(Math.floor(most / leastSegments), largestSegment))
  /** From the oldest to the newest. */
  const segments: Segment[] = []
  /** Memory of segments to be used again. */
  const spare: Buffer[] = []
  /** The segment that is being filled. */
  let head: Segment | null = null
  /** Bytes of all segments, and what the owners of all pieces take besides. */
  let [reserved, besides] = [0, 0]

  const isOwn = (length: number): boolean => length > segmentBytes * ownFrom

  function openSegment(memory: Buffer): Segment {
    const segment: Segment = { memory, pieces: [], filled: 0, weight: 0, live: 0, holders: 0, isClosed: false }
    segments.push(segment)
    reserved += memory.length
    return segment
  }

  /** Ends a segment that was taken from the list. */
  function closeSegment(segment: Segment): void {
    reserved -= segment.memory.length
    segment.isClosed = true
    if (segment === head) head = null
    if (segment.holders === 0) recycle(segment)
  }

  function recycle({ memory }: Segment): void {
    if (memory.length === segmentBytes && reserved + besides + (spare.length + 1) * segmentBytes <= most) spare.push(memory)
  }

  /** The segment that is filled next, if it has room for this. */
  function filling(length: number, beside: number): Segment | null {
    const fits = head !== null && head.filled + length <= segmentBytes && head.weight + length + beside <= segmentBytes
    return fits ? head : null
  }

  /** Bytes that are taken together with a further piece. */
  function totalWith(length: number, beside: number): number {
    const more = isOwn(length) ? length : filling(length, beside) === null ? segmentBytes : 0
    return reserved + besides + beside + more
  }

  function segmentFor(length: number, beside: number): Segment {
    if (isOwn(length)) return openSegment(Buffer.allocUnsafeSlow(length))
    head = filling(length, beside) ?? openSegment(spare.pop() ?? Buffer.allocUnsafeSlow(segmentBytes))
    return head
  }

  function place(placed: Placed, bytes: Uint8Array, segment: Segment): void {
    const from = segment.filled
    segment.memory.set(bytes, from)
    segment.filled += bytes.length
    segment.weight += bytes.length + placed.beside
    segment.live++
    segment.pieces.push(placed)
    placed.at = { segment, bytes: segment.memory.subarray(from, segment.filled) }
  }

  /** Evicts what is in the oldest segment, or moves it to the newest. */
  function evictOldest(): void {
    const oldest = segments.shift()!
    const staying: { readonly placed: Placed; readonly bytes: Buffer }[] = []
    let weight = 0
    for (const placed of oldest.pieces) {
      if (placed.at === null) continue
      const { bytes } = placed.at
      const after = weight + bytes.length + placed.beside
      const mayRemain = after <= segmentBytes * mayStay || isOwn(bytes.length)
      if (mayRemain && placed.owner.isWanted()) {
        staying.push({ placed, bytes })
        weight = after
      } else {
        placed.at = null
        besides -= placed.beside
        placed.owner.evicted()
      }
    }
    if (staying.length > 0 && oldest.memory.length !== segmentBytes) {
      segments.push(oldest)
      return
    }
    closeSegment(oldest)
    if (staying.length === 0) return
    // Where this is the same memory, no piece overwrites one behind it.
    head = openSegment(spare.pop() ?? Buffer.allocUnsafeSlow(segmentBytes))
    for (const { placed, bytes } of staying) if (placed.at !== null) place(placed, bytes, head)
  }

  function free(placed: Placed): void {
    if (placed.at === null) return
    const { segment } = placed.at
    placed.at = null
    besides -= placed.beside
    segment.live--
    const index = segment.live === 0 ? segments.indexOf(segment) : -1
    if (index < 0) return
    segments.splice(index, 1)
    closeSegment(segment)
  }

  function lend({ at }: Placed): ReadBytes | undefined {
    if (at === null) return undefined
    const { segment, bytes } = at
    segment.holders++
    let isReleased = false
    const release = (): void => {
      if (isReleased) return
      isReleased = true
      segment.holders--
      if (segment.holders === 0 && segment.isClosed) recycle(segment)
    }
    return { bytes, release }
  }

  return {
    add: (bytes, beside, owner) => {
      const { length } = bytes
      if ((isOwn(length) ? length : segmentBytes) + beside > most) return undefined
      while (totalWith(length, beside) > most) evictOldest()
      const placed: Placed = { owner, beside, at: null }
      place(placed, bytes, segmentFor(length, beside))
      besides += beside
      while (spare.length > 0 && reserved + besides + spare.length * segmentBytes > most) spare.pop()
      return { lend: () => lend(placed), free: () => free(placed) }
    },
    taken: () => segments.reduce((sum, { filled }) => sum + filled, besides),
    hasRoom: () => reserved + besides + segmentBytes <= most,
  }
}
