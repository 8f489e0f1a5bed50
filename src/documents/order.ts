// Puts connected entries into a list: one after the other, at the start, the end, before or after another entry.
import { validationError } from '../errors.js'
import type { Reference } from './input.js'

/** What a reference stands for: row ids, or names of rows where they are of several types. */
export interface Placed<Row> {
  readonly reference: Reference
  readonly rows: readonly Row[]
}

/**
 * The list of row ids after `disconnected` have left `present` and `connected` have been placed. An entry that is already
 * there moves. Entries may stand before or after entries that come later in the list.
 * @throws ApiError 400 for circles, and for neighbours that are not there.
 */
export function placeEntries<Row extends number | string>(
  present: readonly Row[],
  connected: readonly Placed<Row>[],
  disconnected: ReadonlySet<Row>,
  rowsOf: (neighbour: string | number, entry: Placed<Row>) => readonly Row[],
  /** What errors show beside a neighbour. */
  beside: object = {},
): readonly Row[] {
  // A neighbour that the same request disconnects still counts: it leaves at the end.
  let list = [...present]
  refuseTwins(connected)
  const placed = new Set<Row>()
  let waiting = [...connected]
  while (waiting.length > 0) {
    const later: Placed<Row>[] = []
    for (const entry of waiting) {
      const neighbour = neighbourOf(entry)
      const at = neighbour === null ? [] : rowsOf(neighbour, entry)
      const expected = waiting.some((other) => other !== entry && !placed.has(other.rows[0]!) && other.rows.some((id) => at.includes(id)))
      if (neighbour !== null && (expected || entry.rows.some((id) => at.includes(id)))) {
        later.push(entry)
        continue
      }
      list = place(list, entry, at, beside)
      for (const id of entry.rows) placed.add(id)
    }
    if (later.length === waiting.length) {
      throw validationError(
        'A circular reference was found in the connect array. One relation is trying to connect before/after another one that is trying to connect before/after it',
      )
    }
    waiting = later
  }
  return list.filter((id) => placed.has(id) || !disconnected.has(id))
}

/** The same entry at two places. @throws ApiError 400 */
function refuseTwins<Row>(connected: readonly Placed<Row>[]): void {
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

function neighbourOf({ reference }: Placed<unknown>): string | number | null {
  const { position } = reference
  if (position === undefined || position.start === true) return null
  return (position.before ?? position.after ?? null) as string | number | null
}

function place<Row extends number | string>(
  list: readonly Row[],
  { reference, rows }: Placed<Row>,
  neighbours: readonly Row[],
  beside: object,
): Row[] {
  const others = list.filter((id) => !rows.includes(id))
  const { position } = reference
  if (position?.start === true) return [...rows, ...others]
  if (neighbourOf({ reference, rows }) === null) return [...others, ...rows]
  const places = neighbours.map((id) => others.indexOf(id)).filter((index) => index !== -1)
  if (places.length === 0) {
    const side = position?.before === undefined ? 'after' : 'before'
    const shown = JSON.stringify({ [side]: neighbours[0] ?? position?.[side], ...(typeof position?.[side] === 'string' ? beside : {}) })
    throw validationError(
      `There was a problem connecting relation with id ${rows[0]} at position ${shown}. The relation with id ${neighbours[0] ?? position?.[side]} needs to be connected first.`,
    )
  }
  const index = position?.before === undefined ? Math.max(...places) + 1 : Math.min(...places)
  return [...others.slice(0, index), ...rows, ...others.slice(index)]
}
