// Brings back what a change has kept aside, once the model has a place for it again.
import type { Table } from '../database/schema/table.js'
import { describeTables } from '../database/schema/tables.js'
import { schemasOf } from '../model/owners.js'
import type { Model } from '../model/types.js'
import { filesTable } from './polymorphic.js'
import { id, sqlText } from './sql-text.js'
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
  kept: readonly KeptPlace[],
): readonly PlanStep[] {
  const tables = new Map(describeTables(model).map((table) => [table.name, table]))
  const own = new Set(schemasOf(model).map(({ table }) => table))
  // Rows that others refer to come back before these.
  const inOrder = [...kept.filter(({ table }) => own.has(table)), ...kept.filter(({ table }) => !own.has(table))]
  const back = inOrder.flatMap((place) => restore(place, tables.get(place.table), model))
  const restoring = steps.map((step) => restoringValues(step, kept))
  const at = before === null ? steps.length : steps.indexOf(before)
  return [...restoring.slice(0, at), ...back, ...restoring.slice(at)]
}

/** A conversion back gives the values that an earlier one led from. */
function restoringValues(step: PlanStep, kept: readonly KeptPlace[]): PlanStep {
  if (step.kind !== 'convertColumn') return step
  const place = kept.find(({ kind, table, name }) => kind === 'column' && table === step.table && name === step.column.name)
  return place?.conversion === undefined ? step : { ...step, restores: { from: place.as, conversion: place.conversion } }
}

function restore({ kind, table: name, name: what, as }: KeptPlace, table: Table | undefined, model: Model): readonly PlanStep[] {
  const column = kind === 'field' ? 'field' : what
  const hasPlace = table !== undefined && (kind === 'table' || kind === 'rows' || table.columns.some((each) => each.name === column))
  if (!hasPlace)
    throw new Error(`The model has no place for what is kept as ${as}: ${name}${kind === 'column' ? `.${what}` : ''} is missing`)
  if (kind === 'table' || kind === 'rows') {
    const columns = table.columns.map((each) => ({ from: each.name, to: each.name }))
    // Links that were passed on lead back to what comes back.
    const passedOn: PlanStep = { kind: 'deleteRows', table: name, where: sqlText`id in (select id from ${id(as)})`, risk: 'safe' }
    return [
      ...dangling(table, as),
      ...(kind === 'rows' ? [passedOn] : []),
      { kind: 'moveRows', from: as, to: name, columns, withKept: true, risk: 'slow' },
      { kind: 'dropTable', table: as, risk: 'safe' },
    ]
  }
  const [value, where] = valuesOf({ kind, table: name, name: what, as })
  return [
    ...(kind === 'field' && name === filesTable.name ? ownerless(what, as, model) : []),
    { kind: 'setValues', table: name, column, value, where, risk: 'slow' },
  ]
}

/** Rows between others do not come back if what they refer to was deleted since; rows of other kinds refer to nothing then. */
const dangling = ({ foreignKeys }: Table, as: string): readonly PlanStep[] =>
  foreignKeys.map(({ columns, references, onDelete }) => {
    const [column, target] = [columns[0]!, references.columns[0]!]
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
