// Current names of archived content: follows the renames of later changes and of the undo.
import { allSchemas, ownedLinks, ownedMorphs } from '../schema/graph.js'
import type { Model } from '../schema/types.js'
import { movedColumns } from './columns.js'
import { type ModelPairs, type NameChange, pairModels } from './comparison.js'
import { entryColumns } from './entries.js'
import { movedLinks } from './links.js'
import { movedMorphs } from './polymorphic.js'
import type { MovedColumn, TableMove } from './steps.js'
import type { ArchivedContent, Rename } from './types.js'

/** An applied change of the model. */
export interface AppliedChange {
  readonly id: number
  /** Name in messages. */
  readonly summary: string
  /** The number in the names of archived content. */
  readonly number: number
  /** The change that it undoes; 0 for none. */
  readonly undoes: number
  readonly pairs: ModelPairs
  readonly moves: readonly TableMove[]
}

export interface UndoContext {
  readonly own: AppliedChange
  /** Later changes, oldest first. */
  readonly later: readonly AppliedChange[]
  readonly pairs: ModelPairs
  readonly moves: readonly TableMove[]
}

/** Pairs and table moves of a change. @throws Error as `pairModels` */
export function compareCommon(from: Model, to: Model, renames: readonly Rename[]): Pick<UndoContext, 'pairs' | 'moves'> {
  const pairs = pairModels(from, to, renames)
  const own = pairs.schemas.flatMap((pair): readonly TableMove[] => {
    const { from: before, to: after } = pair
    const rows = { from: before.table, to: after.table, columns: movedColumns(pairs, pair) }
    if (before.componentTable === null || after.componentTable === null) return [rows]
    return [rows, { from: before.componentTable, to: after.componentTable, columns: entryColumns }]
  })
  return { pairs, moves: [...own, ...movedLinks(pairs), ...movedMorphs(pairs)] }
}

/** Archived content under its names in the model of the undo. */
export interface FollowedContent extends ArchivedContent {
  /** Columns of archived rows and their targets; undefined: those of the table. */
  readonly columns?: readonly MovedColumn[]
  /** Renamed types and components in archived rows. */
  readonly uids?: readonly NameChange[]
}

export const describeApplied = ({ id, summary }: AppliedChange): string => `change ${id} (${summary})`

/** Follows archived content. @throws Error if a later change removed its table */
export function followRenames(place: ArchivedContent, undoing: UndoContext): FollowedContent {
  const { own, later } = undoing
  const uids = renamedUids(undoing)
  // Columns and entries are named by the newer model, everything else by the older one.
  const isWithin = place.kind === 'column' || place.kind === 'field'
  const first = isWithin
    ? { from: place.table, to: place.table, columns: [{ from: place.name, to: place.name }] }
    : own.moves.find(({ from }) => from === place.table)
  // The undo creates it again under its former name.
  if (first === undefined) return { ...place, uids }
  let at = first
  for (let index = 0; index < later.length; index++) {
    const change = later[index]!
    const next = composeMoves(at, change.moves)
    if (next === undefined) {
      const back = later.findIndex(({ undoes }) => undoes === change.id)
      if (back === -1)
        throw new Error(
          `The ${describeTable(change.pairs.from, at.to)} that ${describeApplied(own)} archived cannot be restored since ${describeApplied(change)}. Undo change ${change.id} first`,
        )
      index = back
    } else at = next
  }
  const { to: table, columns } = composeMoves(at, undoing.moves) ?? at
  if (place.kind === 'column' && place.conversion !== undefined) return { ...place, table, name: columns[0]?.to ?? place.name }
  if (isWithin || place.kind === 'values') return { ...place, table }
  return { ...place, table, columns, uids }
}

function composeMoves({ from, to, columns }: TableMove, moves: readonly TableMove[]): TableMove | undefined {
  const move = moves.find((each) => each.from === to)
  if (move === undefined) return undefined
  const onwards = new Map(move.columns.map((column) => [column.from, column.to]))
  const left = columns.filter((column) => onwards.has(column.to))
  return { from, to: move.to, columns: left.map((column) => ({ from: column.from, to: onwards.get(column.to)! })) }
}

function renamedUids({ own, later, pairs }: UndoContext): readonly NameChange[] {
  const all = [own, ...later].map((change) => change.pairs)
  return allSchemas(own.pairs.from).flatMap(({ uid }) => {
    const now = [...all, pairs].reduce<string | undefined>((name, each) => (name === undefined ? undefined : each.uidIn(name)), uid)
    return now === undefined || now === uid ? [] : [{ from: uid, to: now }]
  })
}

function describeTable(model: Model, table: string): string {
  const link = ownedLinks(model).find(({ storage }) => storage.table === table)
  if (link !== undefined) return `links of ${link.shape.uid}.${link.relation.name}`
  const morph = ownedMorphs(model).find(({ storage }) => storage.kind === 'table' && storage.table === table)
  if (morph !== undefined) return `links of ${morph.shape.uid}.${morph.name}`
  const owner = allSchemas(model).find((schema) => schema.table === table || schema.componentTable === table)
  return owner === undefined ? `rows of ${table}` : `${owner.table === table ? 'rows' : 'entries'} of ${owner.uid}`
}

/** The earlier names of a table of the undo's model, latest first. */
export function formerNames(
  table: string,
  { own, later, moves }: UndoContext,
): readonly { readonly change: AppliedChange; readonly name: string }[] {
  const changes = [own, ...later]
  const found: { change: AppliedChange; name: string }[] = []
  let name = moves.find(({ to }) => to === table)?.from
  for (let index = later.length; name !== undefined && index >= 0; index--) {
    const change = changes[index]!
    const move = change.moves.find(({ to }) => to === name)
    if (move === undefined) {
      // An undo restored it under its former name.
      index = changes.findIndex(({ id }) => id === change.undoes)
      if (index === -1) break
    } else {
      name = move.from
      found.push({ change, name })
    }
  }
  return found
}
