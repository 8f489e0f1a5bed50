// A list whose entries are found, compared, taken out and put in at once, however long it is: each has a key that grows along it.

/** A list of different rows. */
export interface OrderedList<Row> {
  first(): Row | null
  after(row: Row): Row | null
  remove(row: Row): void
  /** Puts rows in before another one; null: at the end. Those that are in the list stay where they are. */
  insert(rows: readonly Row[], before: Row | null): void
  /** Those of `rows` that are in the list, in its order. */
  inOrder(rows: readonly Row[]): readonly Row[]
  rows(): readonly Row[]
}

interface Node<Row> {
  readonly row: Row
  /** A whole number, larger than that of the node before. */
  key: number
  previous: Node<Row> | null
  next: Node<Row> | null
}

/** Between the keys of entries that follow each other at the start or the end. Thousands of millions of them stay exact numbers. */
const step = 2 ** 20
/** A range of 2^n keys takes new entries without more ado while it has fewer than (2 / thinner)^n of them; from 1 to 2. */
const thinner = 1.4
/** The smallest range whose keys are given anew: so filled, two of its keys still have one between them. */
const smallestRange = 3

export function openList<Row>(initial: readonly Row[]): OrderedList<Row> {
  const nodes = new Map<Row, Node<Row>>()
  let first: Node<Row> | null = null
  let last: Node<Row> | null = null

  function add(row: Row, before: Node<Row> | null): void {
    const previous = before === null ? last : before.previous
    const node: Node<Row> = { row, key: keyBetween(previous, before), previous, next: before }
    if (previous === null) first = node
    else previous.next = node
    if (before === null) last = node
    else before.previous = node
    nodes.set(row, node)
  }

  const list: OrderedList<Row> = {
    first: () => first?.row ?? null,
    after: (row) => nodes.get(row)?.next?.row ?? null,
    remove: (row) => {
      const node = nodes.get(row)
      if (node === undefined) return
      if (node.previous === null) first = node.next
      else node.previous.next = node.next
      if (node.next === null) last = node.previous
      else node.next.previous = node.previous
      nodes.delete(row)
    },
    insert: (rows, before) => {
      const behind = before === null ? null : nodes.get(before)!
      for (const row of rows) if (!nodes.has(row)) add(row, behind)
    },
    inOrder: (rows) => {
      const there = [...new Set(rows)].map((row) => nodes.get(row)).filter((node) => node !== undefined)
      return there.sort((one, other) => one.key - other.key).map(({ row }) => row)
    },
    rows: () => {
      const all: Row[] = []
      for (let node: Node<Row> | null = first; node !== null; node = node.next) all.push(node.row)
      return all
    },
  }
  list.insert(initial, null)
  return list
}

function keyBetween<Row>(previous: Node<Row> | null, next: Node<Row> | null): number {
  if (next === null) return previous === null ? 0 : previous.key + step
  if (previous === null) return next.key - step
  if (next.key - previous.key < 2) spread(next)
  return Math.floor((previous.key + next.key) / 2)
}

/**
 * Gives the entries around `node` keys with room between them: those of the smallest range of keys that is thin enough. Many at
 * one place make it a large one, but the more there are, the more rarely (Bender et al., "Two simplified algorithms for
 * maintaining order in a list").
 */
function spread<Row>(node: Node<Row>): void {
  let start = node
  let end = node
  let count = 1
  for (let size = smallestRange; ; size++) {
    const range = 2 ** size
    const from = Math.floor(node.key / range) * range
    for (; start.previous !== null && start.previous.key >= from; count++) start = start.previous
    for (; end.next !== null && end.next.key < from + range; count++) end = end.next
    if (count > (2 / thinner) ** size) continue
    const room = Math.floor(range / count)
    let key = from + Math.floor(room / 2)
    for (let one: Node<Row> | null = start; one !== null && count > 0; one = one.next, count--, key += room) one.key = key
    return
  }
}
