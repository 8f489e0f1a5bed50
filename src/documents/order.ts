// Puts connected entries into a list: one after the other, at the start, the end, before or after another entry.
import { validationError } from '../errors.js'
import type { Resolved } from './references.js'

/**
 * The list of row ids after `disconnected` have left `present` and `connected` have been placed. An entry that is already
 * there moves. Entries may stand before or after entries that come later in the list.
 * @throws ApiError 400 for circles, and for neighbours that are not there.
 */
export function placeEntries(
  present: readonly number[],
  connected: readonly Resolved[],
  disconnected: ReadonlySet<number>,
  rowsOf: (neighbour: string | number) => readonly number[],
): readonly number[] {
  // A neighbour that the same request disconnects still counts: it leaves at the end.
  let list = [...present]
  refuseTwins(connected)
  const placed = new Set<number>()
  let waiting = [...connected]
  while (waiting.length > 0) {
    const later: Resolved[] = []
    for (const entry of waiting) {
      const neighbour = neighbourOf(entry)
      const at = neighbour === null ? [] : rowsOf(neighbour)
      const expected = waiting.some((other) => other !== entry && !placed.has(other.rows[0]!) && other.rows.some((id) => at.includes(id)))
      if (neighbour !== null && (expected || entry.rows.some((id) => at.includes(id)))) {
        later.push(entry)
        continue
      }
      list = place(list, entry, at)
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
function refuseTwins(connected: readonly Resolved[]): void {
  const places = new Map<number, string>()
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

function neighbourOf({ reference }: Resolved): string | number | null {
  const { position } = reference
  if (position === undefined || position.start === true) return null
  return (position.before ?? position.after ?? null) as string | number | null
}

function place(list: readonly number[], { reference, rows }: Resolved, neighbours: readonly number[]): number[] {
  const others = list.filter((id) => !rows.includes(id))
  const { position } = reference
  if (position?.start === true) return [...rows, ...others]
  if (neighbourOf({ reference, rows }) === null) return [...others, ...rows]
  const places = neighbours.map((id) => others.indexOf(id)).filter((index) => index !== -1)
  if (places.length === 0) {
    const side = position?.before === undefined ? 'after' : 'before'
    const shown = JSON.stringify({ [side]: neighbours[0] ?? position?.[side] })
    throw validationError(
      `There was a problem connecting relation with id ${rows[0]} at position ${shown}. The relation with id ${neighbours[0] ?? position?.[side]} needs to be connected first.`,
    )
  }
  const index = position?.before === undefined ? Math.max(...places) + 1 : Math.min(...places)
  return [...others.slice(0, index), ...rows, ...others.slice(index)]
}
