// Applies a change of the model on a separate thread, so that large tables do not block the service.
import { parentPort, workerData } from 'node:worker_threads'
import type { Database } from 'better-sqlite3'
import { sql } from 'kysely'
import { convertValue } from '../../model/diff/conversions.js'
import type { PlanStep, StepOf } from '../../model/diff/steps.js'
import { getRenamedPart } from '../../model/diff/steps.js'
import type { Model } from '../../model/schema/types.js'
import { quoted } from '../../model/tables/table.js'
import {
  createDrafts,
  renameInSettings,
  runScriptSync,
  type ScriptDialect,
  type ScriptRow,
  type StepScript,
  storeContentTypes,
} from '../change-scripts.js'
import { type StatedStep, stepStatements } from './change-statements.js'
import { reopenSqlite, type SqliteOptions } from './connection.js'
import { sqliteDialect, writeSql } from './dialect.js'
import { getCode } from './errors.js'

/** A statement with its values. */
export interface PlainStatement {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

/** A change of the model as the thread gets it. */
export interface ModelWorkData {
  readonly sqlite: SqliteOptions
  readonly steps: readonly PlanStep[]
  readonly model: Model
  readonly isOutdated: PlainStatement
  readonly make: readonly PlainStatement[]
}

/** The result of the thread: whether the change was applied, or the error. */
export type ModelWorkResult = { readonly isMade: boolean } | { readonly code: string; readonly message: string }

function applyChange({ sqlite, steps, model, isOutdated, make }: ModelWorkData): boolean {
  const database = reopenSqlite(sqlite)
  // Otherwise rows of other tables would be deleted along with moved rows.
  database.pragma('foreign_keys = off')
  try {
    database.prepare('begin immediate').run()
    if (database.prepare(isOutdated.sql).get(...isOutdated.parameters) !== undefined) return false
    runModelSteps(database, steps, model)
    for (const { sql, parameters } of make) database.prepare(sql).run(...parameters)
    database.prepare('commit').run()
    return true
  } finally {
    // Rolls back an unfinished transaction.
    database.close()
  }
}

function resultOf(data: ModelWorkData): ModelWorkResult {
  try {
    return { isMade: applyChange(data) }
  } catch (error) {
    return { code: getCode(error), message: (error as Error).message }
  }
}

/** Runs steps in their order, inside the caller's transaction; `foreign_keys` has to be off. `model` is the new model. */
export function runModelSteps(database: Database, steps: readonly PlanStep[], model: Model): void {
  for (const step of steps) {
    dropOwnIndexes(database, step)
    if (step.kind === 'renameInSettings') run(database, renameInSettings(step))
    else if (step.kind === 'storeContentTypes') run(database, storeContentTypes(step, model))
    else if (step.kind === 'makeDrafts') run(database, createDrafts(step, model, words))
    else runStatements(database, step)
  }
}

/** Octavo's indexes are named after their columns; renamed ones are created again in the background. */
function dropOwnIndexes(database: Database, step: PlanStep): void {
  const renamed = getRenamedPart(step)
  if (renamed === null) return
  const found = database
    .prepare("select name from sqlite_schema where type = 'index' and tbl_name = ? and substr(name, 1, 7) = 'octavo_'")
    .pluck()
    .all(renamed.table) as string[]
  const isAbout = (index: string) =>
    renamed.column === null ||
    database.prepare('select 1 from pragma_index_info(?) where name = ?').get(index, renamed.column) !== undefined
  for (const index of found.filter(isAbout)) database.exec(`drop index ${quoted(index)}`)
}

const words: ScriptDialect = {
  rows: sqliteDialect.rows,
  newIds: (table, count) => sql`select ${sqliteDialect.newIds(table, count)}`,
  idsFrom: (found) => sqliteDialect.idsFrom(found) as () => number,
}

const run = (database: Database, script: StepScript): void =>
  runScriptSync(script, (query) => {
    const { sql: text, parameters } = writeSql(query)
    const statement = database.prepare(text)
    if (statement.reader) return statement.all(...parameters) as ScriptRow[]
    statement.run(...parameters)
    return []
  })

/** Adds the archived columns of the source table to the target table of moved rows. */
function withKeptColumns(database: Database, step: Extract<PlanStep, { readonly kind: 'moveRows' }>): StatedStep {
  const columnsOf = (table: string) =>
    database.prepare('select name, type from pragma_table_info(?)').all(table) as { readonly name: string; readonly type: string }[]
  const there = new Set(columnsOf(step.to).map(({ name }) => name))
  const kept = columnsOf(step.from).filter(({ name }) => name.startsWith('octavo_kept_'))
  for (const { name, type } of kept)
    if (!there.has(name)) database.exec(`alter table ${quoted(step.to)} add column ${quoted(name)} ${type}`)
  return { ...step, columns: [...step.columns, ...kept.map(({ name }) => ({ from: name, to: name }))] }
}

/** Tables of the panel: one that an older Strapi made has not all of them. */
const isPanelStep = (step: PlanStep): step is StepOf<'setValues' | 'deleteRows'> =>
  (step.kind === 'setValues' || step.kind === 'deleteRows') && /^(?:strapi|admin)_/.test(step.table)

function runStatements(database: Database, stated: StatedStep): void {
  const step = stated.kind === 'moveRows' && stated.withKept === true ? withKeptColumns(database, stated) : stated
  if (isPanelStep(step) && database.prepare("select 1 from sqlite_schema where type = 'table' and name = ?").get(step.table) === undefined)
    return
  for (const { sql, values } of stepStatements(step)) database.prepare(sql).run(...values)
  if (step.kind === 'convertColumn') fillConverted(database, step)
  // Nothing was kept: no table has to be looked after.
  if (step.kind === 'keepRows' && database.prepare(`select 1 from ${quoted(step.as)} limit 1`).get() === undefined)
    database.exec(`drop table ${quoted(step.as)}`)
}

type StoredValue = string | number | bigint

/** A value as conversions take it: integers that no number holds as texts. */
const toConvertible = (value: StoredValue): string | number =>
  typeof value !== 'bigint' ? value : Number.isSafeInteger(Number(value)) ? Number(value) : String(value)

/** Ids of rows that are converted in one go. */
const batch = 1000

/** Converts the values of a column into another one. The result of an earlier conversion is converted back if it is unchanged. */
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
      const isResult = former !== null && convertValue(step.restores!.conversion, toConvertible(former)) === toConvertible(value)
      const converted = isResult ? former : convertValue(step.conversion, toConvertible(value))
      if (converted !== null) set.run(typeof converted === 'number' && Number.isInteger(converted) ? BigInt(converted) : converted, id)
    }
    last = rows.at(-1)!.id
  }
}

// Last, because it uses the constants above. Null where tests import `runModelSteps`.
parentPort?.postMessage(resultOf(workerData as ModelWorkData))
