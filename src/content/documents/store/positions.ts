// Puts connected entries into a list: one after the other, at the start, the end, before or after another entry.
import { validationError } from '../../../foundation/errors/errors.js'
import { yieldIfBusy } from '../../../foundation/runtime/event-loop.js'
import type { Reference } from '../input/types.js'
import { type OrderedList, openList } from './ordered-list.js'

/** What a reference stands for: row ids, or names of rows where they are of several types. */
export interface PlacedEntry<Row> {
  readonly reference: Reference
  readonly rows: readonly Row[]
}

/** Entries that are placed between two looks at how long it took. */
const atOnce = 100

/**
 * The list of row ids after `disconnected` have left `present` and `connected` have been placed. An entry that is already
 * there moves. Entries are placed in their order; one that is placed beside a later entry follows it, unless the list has that
 * neighbour already (relations.7).
 * @throws ApiError 400 for circles, and for neighbours that are not there.
 */
export async function placeEntries<Row extends number | string>(
  present: readonly Row[],
  connected: readonly PlacedEntry<Row>[],
  disconnected: ReadonlySet<Row>,
  rowsOf: (neighbour: string | number, entry: PlacedEntry<Row>) => readonly Row[],
  /** What errors show beside a neighbour. */
  beside: object = {},
): Promise<readonly Row[]> {
  refuseTwins(connected)
  const entries = firstOnly(connected).map((entry): ConnectedEntry<Row> => {
    const { before, after } = entry.reference.position ?? {}
    const neighbour = before ?? after
    const other = before === undefined || after === undefined ? [] : rowsOf(after, entry)
    return { ...entry, neighbours: neighbour === undefined ? null : rowsOf(neighbour, entry), ignored: other[0] ?? after }
  })
  // A neighbour that the same request disconnects still counts: it leaves at the end.
  const list = openList(present)
  let count = 0
  for (const entry of neighboursFirst(entries, new Set(present))) {
    place(list, entry, beside)
    if (++count % atOnce === 0) await yieldIfBusy()
  }
  const placed = new Set(connected.flatMap(({ rows }) => rows))
  return list.rows().filter((id) => placed.has(id) || !disconnected.has(id))
}

/** A connected entry with the rows that its position names; null: it goes to the start or the end. */
interface ConnectedEntry<Row> extends PlacedEntry<Row> {
  readonly neighbours: readonly Row[] | null
  /** What `after` names where `before` counts: errors show it. */
  readonly ignored: Row | string | number | undefined
}

/** Each row where it is named first: a row id may name a version of a document that is named too. */
function firstOnly<Row>(connected: readonly PlacedEntry<Row>[]): readonly PlacedEntry<Row>[] {
  const seen = new Set<Row>()
  return connected.flatMap(({ reference, rows }) => {
    const first = rows.filter((row) => !seen.has(row))
    for (const row of first) seen.add(row)
    return first.length > 0 || rows.length === 0 ? [{ reference, rows: first }] : []
  })
}

/** The same entry at two places. @throws ApiError 400 */
function refuseTwins<Row>(connected: readonly PlacedEntry<Row>[]): void {
  const places = new Map<Row, string>()
  for (const { reference, rows } of connected) {
    const place = JSON.stringify(reference.position ?? null)
    for (const id of rows) {
      if ((places.get(id) ?? place) !== place) {
        throw validationError(`The relation with id ${id} is already connected. You cannot connect the same relation twice.`)
      }
      places.set(id, place)
    }
  }
}

/** The entries in their order, each after the entry that it is placed beside. @throws ApiError 400 for circles, where it comes to one */
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
  validationError(
    'A circular reference was found in the connect array. One relation is trying to connect before/after another one that is trying to connect before/after it',
  )

function place<Row extends number | string>(list: OrderedList<Row>, entry: ConnectedEntry<Row>, beside: object): void {
  const { rows, neighbours } = entry
  const { position } = entry.reference
  // Beside nothing but itself.
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
  return validationError(
    `There was a problem connecting relation with id ${rows[0]} at position ${JSON.stringify(shown)}. The relation with id ${neighbour ?? name} needs to be connected first.`,
  )
}
