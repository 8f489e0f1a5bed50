// Runs the steps of a change of the content model on SQLite: statements, and what no statement says.
import type { Database } from 'better-sqlite3'
import type { Model } from '../../model/types.js'
import { convertValue } from '../../model-plans/conversions.js'
import type { PlanStep } from '../../model-plans/steps.js'
import { quoted } from '../schema/table.js'
import { makeDrafts } from './draft-rows.js'
import { renameInSettings, storeContentTypes } from './model-settings.js'
import { type StatedStep, statementsOf } from './model-steps.js'

/** Runs steps in their order, inside the caller's transaction; `foreign_keys` has to be off. `model` is the new model. */
export function runModelSteps(database: Database, steps: readonly PlanStep[], model: Model): void {
  for (const step of steps) {
    if (step.kind === 'renameInSettings') renameInSettings(database, step)
    else if (step.kind === 'storeContentTypes') storeContentTypes(database, step, model)
    else if (step.kind === 'makeDrafts') makeDrafts(database, step, model)
    else runStated(database, step)
  }
}

/** Gives the table that rows are moved to the columns that are kept aside in the one that they come from. */
function withKeptColumns(database: Database, step: Extract<PlanStep, { readonly kind: 'moveRows' }>): StatedStep {
  const columnsOf = (table: string) =>
    database.prepare('select name, type from pragma_table_info(?)').all(table) as { readonly name: string; readonly type: string }[]
  const there = new Set(columnsOf(step.to).map(({ name }) => name))
  const kept = columnsOf(step.from).filter(({ name }) => name.startsWith('octavo_kept_'))
  for (const { name, type } of kept)
    if (!there.has(name)) database.exec(`alter table ${quoted(step.to)} add column ${quoted(name)} ${type}`)
  return { ...step, columns: [...step.columns, ...kept.map(({ name }) => ({ from: name, to: name }))] }
}

function runStated(database: Database, stated: StatedStep): void {
  const step = stated.kind === 'moveRows' && stated.withKept === true ? withKeptColumns(database, stated) : stated
  for (const { sql, values } of statementsOf(step)) database.prepare(sql).run(...values)
  if (step.kind === 'convertColumn') fillConverted(database, step)
  // Nothing was kept: no table has to be looked after.
  if (step.kind === 'keepRows' && database.prepare(`select 1 from ${quoted(step.as)} limit 1`).get() === undefined)
    database.exec(`drop table ${quoted(step.as)}`)
}

type StoredValue = string | number | bigint

/** A value as conversions take it: integers that no number holds as texts. */
const plainOf = (value: StoredValue): string | number =>
  typeof value !== 'bigint' ? value : Number.isSafeInteger(Number(value)) ? Number(value) : String(value)

/** Ids of rows that are converted in one go. */
const batch = 1000

/** Converts the values of a column into the one beside it. What an earlier conversion has led from comes back where its result is still there. */
function fillConverted(database: Database, step: Extract<PlanStep, { readonly kind: 'convertColumn' }>): void {
  const [table, from, to] = [quoted(step.table), quoted(step.as), quoted(step.column.name)]
  const next = database
    .prepare(
      `select id, ${from} as value, ${step.restores === undefined ? 'null' : quoted(step.restores.from)} as former from ${table} where id > ? and ${from} is not null order by id limit ${batch}`,
    )
    .safeIntegers()
  const set = database.prepare(`update ${table} set ${to} = ? where id = ?`)
  let last = 0n
  for (;;) {
    const rows = next.all(last) as { id: bigint; value: StoredValue; former: StoredValue | null }[]
    if (rows.length === 0) break
    for (const { id, value, former } of rows) {
      const isResult = former !== null && convertValue(step.restores!.conversion, plainOf(former)) === plainOf(value)
      const converted = isResult ? former : convertValue(step.conversion, plainOf(value))
      if (converted !== null) set.run(typeof converted === 'number' && Number.isInteger(converted) ? BigInt(converted) : converted, id)
    }
    last = rows.at(-1)!.id
  }
}
