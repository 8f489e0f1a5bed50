// Inserts connected entries into a list: in sequence, at the start or end, before or after another entry.
import { inputError } from '../../../foundation/errors/errors.js'
import { yieldIfBusy } from '../../../foundation/runtime/event-loop.js'
import type { Reference } from '../input/types.js'

/** A reference with its row ids, or with keys of rows if they are of several types. */
export interface PlacedEntry<Row> {
  readonly reference: Reference
  readonly rows: readonly Row[]
}

/** Number of entries placed before yielding if busy. */
const atOnce = 100

/**
 * Computes the list of rows after `disconnected` have left `present` and `connected` are inserted. An existing entry moves. Entries are
 * inserted in order; one that refers to a later entry follows it, unless the list already contains that neighbour (relations.7).
 * @throws ApiError 400 for cycles and missing neighbours
 */
export async function placeEntries<Row extends number | string>(
  present: readonly Row[],
  connected: readonly PlacedEntry<Row>[],
  disconnected: ReadonlySet<Row>,
  rowsOf: (neighbour: string | number, entry: PlacedEntry<Row>) => readonly Row[],
  /** Additional members of a neighbour in errors. */
  beside: object = {},
): Promise<readonly Row[]> {
  refuseTwins(connected)
  const entries = firstOnly(connected).map((entry): ConnectedEntry<Row> => {
    const { before, after } = entry.reference.position ?? {}
    const neighbour = before ?? after
    const other = before === undefined || after === undefined ? [] : rowsOf(after, entry)
    return { ...entry, neighbours: neighbour === undefined ? null : rowsOf(neighbour, entry), ignored: other[0] ?? after }
  })
  // A neighbour disconnected by the same request still counts: it is removed last.
  const list = createOrderedList(present)
  let count = 0
  for (const entry of neighboursFirst(entries, new Set(present))) {
    place(list, entry, beside)
    if (++count % atOnce === 0) await yieldIfBusy()
  }
  const placed = new Set(connected.flatMap(({ rows }) => rows))
  return list.rows().filter((id) => placed.has(id) || !disconnected.has(id))
}

/** A connected entry with the rows in its position; null: start or end. */
interface ConnectedEntry<Row> extends PlacedEntry<Row> {
  readonly neighbours: readonly Row[] | null
  /** The neighbour in `after` if `before` takes precedence, for errors. */
  readonly ignored: Row | string | number | undefined
}

/** Keeps the first occurrence of each row: a row id may refer to a version of a document that is referenced too. */
function firstOnly<Row>(connected: readonly PlacedEntry<Row>[]): readonly PlacedEntry<Row>[] {
  const seen = new Set<Row>()
  return connected.flatMap(({ reference, rows }) => {
    const first = rows.filter((row) => !seen.has(row))
    for (const row of first) seen.add(row)
    return first.length > 0 || rows.length === 0 ? [{ reference, rows: first }] : []
  })
}

/** Refuses the same entry at two positions. @throws ApiError 400 */
function refuseTwins<Row>(connected: readonly PlacedEntry<Row>[]): void {
  const places = new Map<Row, string>()
  for (const { reference, rows } of connected) {
    const place = JSON.stringify(reference.position ?? null)
    for (const id of rows) {
      if ((places.get(id) ?? place) !== place) {
        throw inputError(`The relation with id ${id} is already connected. You cannot connect the same relation twice.`, [], 'duplicate')
      }
      places.set(id, place)
    }
  }
}

/** Entries sorted so that each follows its neighbour. @throws ApiError 400 for a cycle, when it is reached */
function* neighboursFirst<Row>(entries: readonly ConnectedEntry<Row>[], present: ReadonlySet<Row>): Iterable<ConnectedEntry<Row>> {
  const byRow = new Map(entries.flatMap((entry) => entry.rows.map((row) => [row, entry] as const)))
  const sorted = new Set<ConnectedEntry<Row>>()
  for (const first of entries) {
    const chain: ConnectedEntry<Row>[] = []
    const followed = new Set<ConnectedEntry<Row>>()
    for (let entry: ConnectedEntry<Row> | undefined = first; entry !== undefined && !sorted.has(entry); ) {
      chain.push(entry)
      const isThere: boolean = entry.neighbours?.some((row) => present.has(row)) === true
      const next: ConnectedEntry<Row> | undefined = entry.neighbours?.map((row) => byRow.get(row)).find((other) => other !== undefined)
      if (next !== undefined && followed.has(next)) throw circle()
      if (!isThere && next === entry) throw circle()
      followed.add(entry)
      entry = isThere ? undefined : next
    }
    for (const entry of chain.reverse()) {
      sorted.add(entry)
      yield entry
    }
  }
}

const circle = () =>
  inputError(
    'A circular reference was found in the connect array. One relation is trying to connect before/after another one that is trying to connect before/after it',
    [],
    'conflict',
  )

function place<Row extends number | string>(list: OrderedList<Row>, entry: ConnectedEntry<Row>, beside: object): void {
  const { rows, neighbours } = entry
  const { position } = entry.reference
  // Its only neighbour is itself.
  if (neighbours !== null && neighbours.length > 0 && neighbours.every((row) => rows.includes(row))) throw circle()
  for (const row of rows) list.remove(row)
  if (neighbours === null) list.insert(rows, position?.start === true ? list.first() : null)
  else {
    const there = list.inOrder(neighbours)
    if (there.length === 0) throw missingNeighbour(entry, neighbours[0], beside)
    list.insert(rows, position?.before === undefined ? list.after(there.at(-1)!) : there[0]!)
  }
}

function missingNeighbour<Row>(
  { rows, ignored, reference: { position, locale } }: ConnectedEntry<Row>,
  neighbour: Row | undefined,
  beside: object,
) {
  const side = position?.before === undefined ? 'after' : 'before'
  const name = position?.[side]
  const { type, ...places } = { ...position, ...(ignored !== undefined && { after: ignored }), [side]: neighbour ?? name }
  const hasLocale = (position?.locale ?? locale ?? null) !== null
  const shown = { ...places, ...(type !== undefined && { __type: type }), ...(typeof name === 'string' && !hasLocale && beside) }
  return inputError(
    `There was a problem connecting relation with id ${rows[0]} at position ${JSON.stringify(shown)}. The relation with id ${neighbour ?? name} needs to be connected first.`,
    [],
    'notFound',
  )
}

/** A list of distinct rows with fast lookup. */
interface OrderedList<Row> {
  first(): Row | null
  after(row: Row): Row | null
  remove(row: Row): void
  /** Inserts rows before another one; null: at the end. Rows in the list do not move. */
  insert(rows: readonly Row[], before: Row | null): void
  /** The rows that are in the list, in its order. */
  inOrder(rows: readonly Row[]): readonly Row[]
  rows(): readonly Row[]
}

interface Node<Row> {
  readonly row: Row
  /** An integer greater than that of the previous node. */
  key: number
  previous: Node<Row> | null
  next: Node<Row> | null
}

/** Distance between keys of entries appended at the start or end. Billions of them remain exact. */
const step = 2 ** 20
/** A range of 2^n keys accepts new entries while it has fewer than (2 / thinner)^n; between 1 and 2. */
const thinner = 1.4
/** The smallest range to renumber: at this density there is a free key between two entries. */
const smallestRange = 3

export function createOrderedList<Row>(initial: readonly Row[]): OrderedList<Row> {
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
 * Renumbers the entries around `node`, in the smallest range of keys that is sparse enough. Many insertions at one position make the range
 * larger, but also rarer to renumber (Bender et al., "Two simplified algorithms for maintaining order in a list").
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
