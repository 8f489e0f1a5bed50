// Sets of row ids: a bit for each id where ids follow each other, as those of a table do.

/** A set of row ids, which are positive integers. */
export interface IdSet {
  readonly size: number
  has(id: number): boolean
  /** Returns whether the id is new. */
  add(id: number): boolean
}

/** Ids that share a word. */
const wordBits = 32

/** Opens an empty set. */
export function openIdSet(): IdSet {
  const words = new Map<number, number>()
  let size = 0
  const has = (id: number): boolean => (((words.get(Math.floor(id / wordBits)) ?? 0) >>> (id % wordBits)) & 1) === 1
  return {
    get size() {
      return size
    },
    has,
    add: (id) => {
      if (has(id)) return false
      const place = Math.floor(id / wordBits)
      words.set(place, (words.get(place) ?? 0) | (1 << (id % wordBits)))
      size++
      return true
    },
  }
}
