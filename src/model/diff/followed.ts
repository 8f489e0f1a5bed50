// Where what a change has kept aside belongs by now: names follow the changes that were made since, and the undo itself.
import { ownedLinks, ownedMorphs, schemasOf } from '../schema/owners.js'
import type { Model } from '../schema/types.js'
import { movedColumns } from './columns.js'
import { entryColumns } from './entries.js'
import { movedLinks } from './links.js'
import { type NameChange, type Pairs, pairModels } from './pairs.js'
import { movedMorphs } from './polymorphic.js'
import type { MovedColumn, TableMove } from './steps.js'
import type { KeptPlace, Rename } from './types.js'

/** A change of the model that was made. */
export interface MadeChange {
  readonly id: number
  /** What it is called in messages. */
  readonly summary: string
  /** The number in the names of what it has kept aside. */
  readonly number: number
  /** The change that it undoes; 0 for none. */
  readonly undoes: number
  readonly pairs: Pairs
  readonly moves: readonly TableMove[]
}

/** The undo of a change. */
export interface Undoing {
  /** The change that is undone. */
  readonly own: MadeChange
  /** The changes that were made since, oldest first. */
  readonly later: readonly MadeChange[]
  readonly pairs: Pairs
  readonly moves: readonly TableMove[]
}

/** What both models of a change have in common. @throws Error as `pairModels` */
export function inCommon(from: Model, to: Model, renames: readonly Rename[]): Pick<Undoing, 'pairs' | 'moves'> {
  const pairs = pairModels(from, to, renames)
  const own = pairs.schemas.flatMap((pair): readonly TableMove[] => {
    const { from: before, to: after } = pair
    const rows = { from: before.table, to: after.table, columns: movedColumns(pairs, pair) }
    if (before.componentTable === null || after.componentTable === null) return [rows]
    return [rows, { from: before.componentTable, to: after.componentTable, columns: entryColumns }]
  })
  return { pairs, moves: [...own, ...movedLinks(pairs), ...movedMorphs(pairs)] }
}

/** What is kept aside under the names that it has by now, in the model that the undo leads to. */
export interface FollowedPlace extends KeptPlace {
  /** The columns of kept rows, and those that they go to; undefined: those of the table. */
  readonly columns?: readonly MovedColumn[]
  /** Types and components that kept rows name otherwise. */
  readonly uids?: readonly NameChange[]
}

/** The words for a change in messages. */
export const named = ({ id, summary }: MadeChange): string => `change ${id} (${summary})`

/**
 * Follows what the change has kept aside.
 * @throws Error with a sentence if a later change removed its place
 */
export function followed(place: KeptPlace, undoing: Undoing): FollowedPlace {
  const { own, later } = undoing
  const uids = renamedUids(undoing)
  // Columns and entries lie in a table of the newer model, everything else is named by the older one.
  const isWithin = place.kind === 'column' || place.kind === 'field'
  const first = isWithin
    ? { from: place.table, to: place.table, columns: [{ from: place.name, to: place.name }] }
    : own.moves.find(({ from }) => from === place.table)
  // What the change has removed as a whole is as the undo makes it again.
  if (first === undefined) return { ...place, uids }
  let at = first
  for (let index = 0; index < later.length; index++) {
    const change = later[index]!
    const next = moved(at, change.moves)
    if (next === undefined) {
      const back = later.findIndex(({ undoes }) => undoes === change.id)
      if (back === -1)
        throw new Error(
          `The ${wordsFor(change.pairs.from, at.to)} that ${named(own)} has kept aside have no place since ${named(change)}. Undo change ${change.id} first`,
        )
      index = back
    } else at = next
  }
  const { to: table, columns } = moved(at, undoing.moves) ?? at
  if (place.kind === 'column' && place.conversion !== undefined) return { ...place, table, name: columns[0]?.to ?? place.name }
  if (isWithin || place.kind === 'values') return { ...place, table }
  return { ...place, table, columns, uids }
}

function moved({ from, to, columns }: TableMove, moves: readonly TableMove[]): TableMove | undefined {
  const move = moves.find((each) => each.from === to)
  if (move === undefined) return undefined
  const onwards = new Map(move.columns.map((column) => [column.from, column.to]))
  const left = columns.filter((column) => onwards.has(column.to))
  return { from, to: move.to, columns: left.map((column) => ({ from: column.from, to: onwards.get(column.to)! })) }
}

function renamedUids({ own, later, pairs }: Undoing): readonly NameChange[] {
  const all = [own, ...later].map((change) => change.pairs)
  return schemasOf(own.pairs.from).flatMap(({ uid }) => {
    const now = [...all, pairs].reduce<string | undefined>((name, each) => (name === undefined ? undefined : each.uidIn(name)), uid)
    return now === undefined || now === uid ? [] : [{ from: uid, to: now }]
  })
}

/** What is in a table, for messages. */
function wordsFor(model: Model, table: string): string {
  const link = ownedLinks(model).find(({ storage }) => storage.table === table)
  if (link !== undefined) return `links of ${link.shape.uid}.${link.relation.name}`
  const morph = ownedMorphs(model).find(({ storage }) => storage.kind === 'table' && storage.table === table)
  if (morph !== undefined) return `links of ${morph.shape.uid}.${morph.name}`
  const owner = schemasOf(model).find((schema) => schema.table === table || schema.componentTable === table)
  return owner === undefined ? `rows of ${table}` : `${owner.table === table ? 'rows' : 'entries'} of ${owner.uid}`
}

/** The names that a table of the model that the undo leads to has had before each change, the last change first. */
export function formerNames(
  table: string,
  { own, later, moves }: Undoing,
): readonly { readonly change: MadeChange; readonly name: string }[] {
  const changes = [own, ...later]
  const found: { change: MadeChange; name: string }[] = []
  let name = moves.find(({ to }) => to === table)?.from
  for (let index = later.length; name !== undefined && index >= 0; index--) {
    const change = changes[index]!
    const move = change.moves.find(({ to }) => to === name)
    if (move === undefined) {
      // An undo has brought it back that a change had removed: it had the same name before.
      index = changes.findIndex(({ id }) => id === change.undoes)
      if (index === -1) break
    } else {
      name = move.from
      found.push({ change, name })
    }
  }
  return found
}
