// Which ids imported rows get: those of the archive where they are free. Numbers that a row gets instead follow all that were ever given.
import { type IdSet, openIdSet } from './id-set.js'

/** The ids of imported rows. */
export interface RowIds {
  /** The id for the next row that has `archived` in the archive. */
  assign(uid: string, archived: number): number
  /** The id that a row got; the first, if several rows have it in the archive. */
  of(uid: string, archived: number): number
}

/** What is known of the ids of a type or component. */
export interface KnownIds {
  /** The largest in the archive. */
  largest(uid: string): number
  /** The last number that the database gave. */
  last(uid: string): number
  /** Whether a row of the database has this id, or another row had it that must not be taken for the new one. */
  isTaken(uid: string, id: number): boolean
}

export function openRowIds({ largest, last, isTaken }: KnownIds): RowIds {
  const assigned = new Map<string, IdSet>()
  const others = new Map<string, Map<number, number>>()
  const next = new Map<string, number>()

  function another(uid: string): number {
    const id = next.get(uid) ?? Math.max(largest(uid), last(uid)) + 1
    next.set(uid, id + 1)
    return id
  }

  return {
    assign: (uid, archived) => {
      const known = assigned.get(uid) ?? openIdSet()
      assigned.set(uid, known)
      const isFirst = known.add(archived)
      if (isFirst && !isTaken(uid, archived)) return archived
      const id = another(uid)
      if (isFirst) {
        const map = others.get(uid) ?? new Map<number, number>()
        others.set(uid, map)
        map.set(archived, id)
      }
      return id
    },
    of: (uid, archived) => others.get(uid)?.get(archived) ?? archived,
  }
}
