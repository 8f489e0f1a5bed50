// Brings back what a change has kept aside, once the model has a place for it again.
import type { Table } from '../database/schema/table.js'
import { describeTables } from '../database/schema/tables.js'
import type { Model } from '../model/types.js'
import { id, sqlText } from './sql-text.js'
import type { PlanStep } from './steps.js'
import type { KeptPlace } from './types.js'

/**
 * Plans the restoration of what was kept aside, for a model that has tables and columns of the same names and types again. Rows get the ids
 * they had, so that their links, components and files are theirs again. Values that were written since are not replaced.
 * @throws Error with a sentence if the model has no place for it
 */
export function planRestoration(model: Model, kept: readonly KeptPlace[]): readonly PlanStep[] {
  const tables = new Map(describeTables(model).map((table) => [table.name, table]))
  return kept.flatMap((place) => restore(place, tables.get(place.table)))
}

function restore({ kind, table: name, name: what, as }: KeptPlace, table: Table | undefined): readonly PlanStep[] {
  const column = kind === 'field' ? 'field' : what
  const hasPlace = table !== undefined && (kind === 'table' || kind === 'rows' || table.columns.some((each) => each.name === column))
  if (!hasPlace)
    throw new Error(`The model has no place for what is kept as ${as}: ${name}${kind === 'column' ? `.${what}` : ''} is missing`)
  if (kind === 'table' || kind === 'rows') {
    const columns = table.columns.map((each) => ({ from: each.name, to: each.name }))
    return [
      { kind: 'moveRows', from: as, to: name, columns, risk: 'slow' },
      { kind: 'dropTable', table: as, risk: 'safe' },
    ]
  }
  const [value, where] =
    kind === 'field'
      ? [sqlText`${what}`, sqlText`${id('field')} = ${as}`]
      : [sqlText`${id(as)}`, sqlText`${id(what)} is null and ${id(as)} is not null`]
  return [{ kind: 'setValues', table: name, column, value, where, risk: 'slow' }]
}
