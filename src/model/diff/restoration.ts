// Brings back what a change has kept aside, once the model has a place for it again.

import { ownedMorphs, schemasOf } from '../schema/owners.js'
import type { Model } from '../schema/types.js'
import type { Table } from '../tables/table.js'
import { describeTables } from '../tables/tables.js'
import { linksToHeirs } from './heirs.js'
import { type NameChange, inOrder as orderOf } from './pairs.js'
import { withoutGiven } from './permissions.js'
import { filesTable } from './polymorphic.js'
import { fieldBehind, movedBehind, positionsIn } from './positions.js'
import { type GoneTargets, heirOfGone, type ReturningPlace } from './returns.js'
import { draftsOf } from './row-changes.js'
import { id, joinedText, sqlText } from './sql-text.js'
import type { PlanStep } from './steps.js'
import type { KeptPlace } from './types.js'

/**
 * Adds to the steps of a plan the restoration of what was kept aside, for a model that has tables and columns of the same names and types again.
 * `before`: see `ModelPlan.restoreBefore`. Rows get the ids they had, so that their links, components and files are theirs again. Values that were written since are not replaced.
 * @throws Error with a sentence if the model has no place for it
 */
export function withRestoration(
  steps: readonly PlanStep[],
  before: PlanStep | null,
  model: Model,
  kept: readonly ReturningPlace[],
): readonly PlanStep[] {
  const tables = new Map(describeTables(model).map((table) => [table.name, table]))
  const own = new Set(schemasOf(model).map(({ table }) => table))
  // Rows that others refer to come back before these.
  const inOrder = [...kept.filter(({ table }) => own.has(table)), ...kept.filter(({ table }) => !own.has(table))]
  const back = inOrder.flatMap((place) => restore(place, { tables, model, own, all: kept }))
  const restoring = steps.map((step) => restoringValues(step, kept))
  const at = before === null ? steps.length : steps.indexOf(before)
  const made = new Set(steps.flatMap((step) => (step.kind === 'makeDrafts' ? [step.schema] : [])))
  const led = new Set(kept.flatMap(({ draftsSince }) => (draftsSince === undefined || made.has(draftsSince) ? [] : [draftsSince])))
  const leading = [...led].map((uid) => draftsOf(model, (name) => tables.get(name)!, model.types.get(uid)!))
  const all = [...restoring.slice(0, at), ...back, ...restoring.slice(at), ...leading]
  // Nothing leads back from what is dropped.
  return [...all.filter(({ kind }) => kind !== 'dropTable'), ...all.filter(({ kind }) => kind === 'dropTable')]
}

/** A conversion back gives the values that an earlier one led from. */
function restoringValues(step: PlanStep, kept: readonly KeptPlace[]): PlanStep {
  if (step.kind !== 'convertColumn') return step
  const place = kept.find(({ kind, table, name }) => kind === 'column' && table === step.table && name === step.column.name)
  return place?.conversion === undefined ? step : { ...step, restores: { from: place.as, conversion: place.conversion } }
}

/** What the restoration of one place looks at. */
interface Restoring {
  readonly model: Model
  /** The tables of the model. */
  readonly tables: ReadonlyMap<string, Table>
  /** The names of those of types and components. */
  readonly own: ReadonlySet<string>
  readonly all: readonly ReturningPlace[]
}

function restore(place: ReturningPlace, restoring: Restoring): readonly PlanStep[] {
  const { kind, table: name, name: what, as } = place
  const { model } = restoring
  const table = restoring.tables.get(name)
  const column = kind === 'field' ? 'field' : what
  const hasPlace = table !== undefined && (kind === 'table' || kind === 'rows' || table.columns.some((each) => each.name === column))
  if (!hasPlace)
    throw new Error(`The model has no place for what is kept as ${as}: ${name}${kind === 'column' ? `.${what}` : ''} is missing`)
  if (kind === 'table' || kind === 'rows') return restoreRows(place, table, restoring)
  const [value, where] = valuesOf({ kind, table: name, name: what, as })
  return [
    ...(kind === 'field' && name === filesTable.name ? ownerless(what, as, model) : []),
    ...(kind === 'field' ? positionsIn(model, name).map((positions) => fieldBehind(name, positions, as, what)) : []),
    { kind: 'setValues', table: name, column, value, where, risk: 'slow' },
  ]
}

/** Rows come back from a table of their own. */
function restoreRows(place: ReturningPlace, table: Table, { model, own, all }: Restoring): readonly PlanStep[] {
  const { kind, table: name, as, gone, uids = [] } = place
  const formerName = new Map(place.columns?.map(({ from, to }) => [to, from]))
  const keptAs = (column: string): string => formerName.get(column) ?? column
  // Of tables between rows both have the columns; one that was added since has no values.
  const isBetween = place.columns !== undefined && !own.has(name)
  const columns = isBetween ? place.columns! : table.columns.map((column) => ({ from: keptAs(column.name), to: column.name }))
  const there = new Set(columns.map(({ to }) => to))
  const positions = positionsIn(model, name).filter(({ order }) => there.has(order))
  // Links that were passed on lead back to what comes back.
  const passedOn: PlanStep = { kind: 'deleteRows', table: name, where: sqlText`id in (select id from ${id(as)})`, risk: 'safe' }
  return [
    ...withoutGiven(place, all),
    ...typeColumnsOf(model, name).flatMap((column) => renamedTypes(as, keptAs(column), uids)),
    ...(gone === undefined ? [] : [toHeirs(as, gone)]),
    ...dangling(table, as, keptAs),
    ...(kind === 'rows' ? [passedOn] : []),
    ...positions.map((each) => movedBehind(as, name, each, keptAs)),
    { kind: 'moveRows', from: as, to: name, columns, withKept: true, risk: 'slow' },
    { kind: 'dropTable', table: as, risk: 'safe' },
  ]
}

/** The columns of a table that name types or components of rows. */
const typeColumnsOf = (model: Model, table: string): readonly string[] => [
  ...(table === filesTable.name ? [filesTable.type] : []),
  ...(schemasOf(model).some(({ componentTable }) => componentTable === table) ? ['component_type'] : []),
  ...ownedMorphs(model).flatMap(({ storage }) => (storage.kind === 'table' && storage.table === table ? [storage.type] : [])),
]

const renamedTypes = (table: string, column: string, uids: readonly NameChange[]): readonly PlanStep[] =>
  orderOf(uids).map(({ from, to }) => ({
    ...{ kind: 'setValues', table, column, risk: 'slow' },
    ...{ value: sqlText`${to}`, where: sqlText`${id(column)} = ${from}` },
  }))

/** Links to rows that have gone since lead to other versions of their documents. */
function toHeirs(as: string, { owner, target, type, rows }: GoneTargets): PlanStep {
  const selects = rows.map((table) => sqlText`select id, document_id, published_at, locale from ${id(table)}`)
  const gone = sqlText`(${joinedText(selects, ' union ')})`
  const isGone = sqlText`link.${id(target)} not in (select id from ${id(type.table)})`
  return { ...linksToHeirs({ table: as, owner, target }, { gone, isGone, heir: heirOfGone(type) }), risk: 'slow' }
}

/** Rows between others do not come back if what they refer to was deleted since; rows of other kinds refer to nothing then. */
const dangling = ({ foreignKeys }: Table, as: string, keptAs: (column: string) => string): readonly PlanStep[] =>
  foreignKeys.map(({ columns, references, onDelete }) => {
    const [column, target] = [keptAs(columns[0]!), references.columns[0]!]
    const where = sqlText`${id(column)} is not null and ${id(column)} not in (select ${id(target)} from ${id(references.table)})`
    if (onDelete === 'CASCADE') return { kind: 'deleteRows', table: as, where, risk: 'safe' }
    return { kind: 'setValues', table: as, column, value: null, where, risk: 'safe' }
  })

/** Links to files that were kept aside do not come back if their row was deleted since. */
const ownerless = (attribute: string, as: string, model: Model): readonly PlanStep[] =>
  schemasOf(model)
    .filter((schema) => schema.attributes.get(attribute)?.kind === 'media')
    .map(({ uid, table }) => ({
      ...{ kind: 'deleteRows', table: filesTable.name, risk: 'safe' },
      where: sqlText`field = ${as} and ${id(filesTable.type)} = ${uid} and related_id not in (select id from ${id(table)})`,
    }))

function valuesOf({ kind, table, name, as }: KeptPlace) {
  if (kind === 'field') return [sqlText`${name}`, sqlText`${id('field')} = ${as}`] as const
  if (kind === 'column') return [sqlText`${id(as)}`, sqlText`${id(name)} is null and ${id(as)} is not null`] as const
  const former = sqlText`(select former.${id(name)} from ${id(as)} as former where former.id = ${id(table)}.id)`
  return [former, sqlText`${id(name)} is null`] as const
}
