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

function runStated(database: Database, step: StatedStep): void {
  for (const { sql, values } of statementsOf(step)) database.prepare(sql).run(...values)
  if (step.kind === 'convertColumn') fillConverted(database, step)
  // Nothing was kept: no table has to be looked after.
  if (step.kind === 'keepRows' && database.prepare(`select 1 from ${quoted(step.as)} limit 1`).get() === undefined)
    database.exec(`drop table ${quoted(step.as)}`)
}

/** Ids of rows that are converted in one go. */
const batch = 1000

/** Converts the values of a column into the one beside it; the old one goes if nothing of it is lost. */
function fillConverted(database: Database, step: Extract<PlanStep, { readonly kind: 'convertColumn' }>): void {
  const [table, from, to] = [quoted(step.table), quoted(step.as), quoted(step.column.name)]
  const next = database
    .prepare(`select id, ${from} as value from ${table} where id > ? and ${from} is not null order by id limit ${batch}`)
    .safeIntegers()
  const set = database.prepare(`update ${table} set ${to} = ? where id = ?`)
  let last = 0n
  for (;;) {
    const rows = next.all(last) as { id: bigint; value: string | number | bigint }[]
    if (rows.length === 0) break
    for (const { id, value } of rows) {
      const plain = typeof value === 'bigint' ? (Number.isSafeInteger(Number(value)) ? Number(value) : String(value)) : value
      const converted = convertValue(step.conversion, plain)
      if (converted !== null) set.run(typeof converted === 'number' && Number.isInteger(converted) ? BigInt(converted) : converted, id)
    }
    last = rows.at(-1)!.id
  }
  if (!step.keeps) database.exec(`alter table ${table} drop column ${from}`)
}
