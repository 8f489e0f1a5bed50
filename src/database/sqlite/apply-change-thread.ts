// Applies a model change on a separate thread, so that large tables do not block the service.
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

interface PlainStatement {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

/** A model change in structured-cloneable form. */
export interface ModelWorkData {
  readonly sqlite: SqliteOptions
  readonly steps: readonly PlanStep[]
  readonly model: Model
  readonly isOutdated: PlainStatement
  readonly make: readonly PlainStatement[]
}

/** Whether the change was applied, or the error. */
export type ModelWorkResult = { readonly isMade: boolean } | { readonly code: string; readonly message: string }

function applyChange({ sqlite, steps, model, isOutdated, make }: ModelWorkData): boolean {
  const database = reopenSqlite(sqlite)
  // With foreign keys on, moving rows would cascade deletes to other tables.
  database.pragma('foreign_keys = off')
  try {
    database.prepare('begin immediate').run()
    if (database.prepare(isOutdated.sql).get(...isOutdated.parameters) !== undefined) return false
    runModelSteps(database, steps, model)
    for (const { sql, parameters } of make) database.prepare(sql).run(...parameters)
    database.prepare('commit').run()
    return true
  } finally {
    // Also rolls back an unfinished transaction.
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

/** Runs steps in order, within the caller's transaction and with `foreign_keys` off. `model` is the new model. */
export function runModelSteps(database: Database, steps: readonly PlanStep[], model: Model): void {
  for (const step of steps) {
    dropOwnIndexes(database, step)
    if (step.kind === 'renameInSettings') run(database, renameInSettings(step))
    else if (step.kind === 'storeContentTypes') run(database, storeContentTypes(step, model))
    else if (step.kind === 'makeDrafts') run(database, createDrafts(step, model, scriptDialect))
    else runStatements(database, step)
  }
}

/** Drops Octavo's indexes on a renamed table or column, whose names are outdated; they are recreated in the background. */
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

const scriptDialect: ScriptDialect = {
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

/** Adds the source table's archived columns to the target table of moved rows. */
function withKeptColumns(database: Database, step: Extract<PlanStep, { readonly kind: 'moveRows' }>): StatedStep {
  const columnsOf = (table: string) =>
    database.prepare('select name, type from pragma_table_info(?)').all(table) as { readonly name: string; readonly type: string }[]
  const there = new Set(columnsOf(step.to).map(({ name }) => name))
  const archived = columnsOf(step.from).filter(({ name }) => name.startsWith('octavo_kept_'))
  for (const { name, type } of archived)
    if (!there.has(name)) database.exec(`alter table ${quoted(step.to)} add column ${quoted(name)} ${type}`)
  return { ...step, columns: [...step.columns, ...archived.map(({ name }) => ({ from: name, to: name }))] }
}

/** Steps on tables of Strapi's panel; older versions of Strapi lack some of them. */
const isPanelStep = (step: PlanStep): step is StepOf<'setValues' | 'deleteRows'> =>
  (step.kind === 'setValues' || step.kind === 'deleteRows') && /^(?:strapi|admin)_/.test(step.table)

function runStatements(database: Database, stated: StatedStep): void {
  const step = stated.kind === 'moveRows' && stated.withKept === true ? withKeptColumns(database, stated) : stated
  if (isPanelStep(step) && database.prepare("select 1 from sqlite_schema where type = 'table' and name = ?").get(step.table) === undefined)
    return
  for (const { sql, values } of stepStatements(step)) database.prepare(sql).run(...values)
  if (step.kind === 'convertColumn') fillConverted(database, step)
  // Drop the archive table if it is empty.
  if (step.kind === 'keepRows' && database.prepare(`select 1 from ${quoted(step.as)} limit 1`).get() === undefined)
    database.exec(`drop table ${quoted(step.as)}`)
}

type StoredValue = string | number | bigint

/** A value as conversions expect it: integers beyond a double as text. */
const toConvertible = (value: StoredValue): string | number =>
  typeof value !== 'bigint' ? value : Number.isSafeInteger(Number(value)) ? Number(value) : String(value)

const batch = 1000

/** Converts a column's values into another column. Unchanged results of an earlier conversion are restored from their original. */
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

// Last, because it uses the constants above. `parentPort` is null where tests import `runModelSteps`.
parentPort?.postMessage(resultOf(workerData as ModelWorkData))
