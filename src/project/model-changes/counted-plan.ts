// The plan of a change for the actual database: takes leftovers into account, and counts the affected content.

import { sql } from 'kysely'
import { type Database, hasColumns, type MainConnection } from '../../database/database.js'
import { cast } from '../../database/portable-sql.js'
import { ApiError } from '../../foundation/errors/errors.js'
import type { ScalarType } from '../../foundation/public/attribute-types.js'
import { archiveNames, type ModelPairs, pairModels } from '../../model/diff/comparison.js'
import { type Conversion, convertValue, isSame, losesData } from '../../model/diff/conversions.js'
import { planModelChange } from '../../model/diff/plan.js'
import { formerPlace, withRestoration } from '../../model/diff/restoration.js'
import { type SqlText, toExpression } from '../../model/diff/sql-text.js'
import type { PlanStep } from '../../model/diff/steps.js'
import type { ArchivedContent, ConvertedValues, ModelPlan, PlanChoices, PlanLoss, Rename } from '../../model/diff/types.js'
import type { Model } from '../../model/schema/types.js'

export interface UndoneChange {
  readonly id: number
  /** Its archived content. */
  readonly kept: readonly ArchivedContent[]
}

interface ChangeToPlan {
  readonly from: Model
  readonly to: Model
  readonly renames: readonly Rename[]
  readonly choices: PlanChoices
  /** The change to undo, with the content to restore. */
  readonly undoes: UndoneChange | null
}

/** Content that a change hides, or that violates the new model. */
export interface CountedContent {
  readonly name: string
  readonly about: string
  /** Number of values, rows or links; an upper bound unless `exact`. */
  readonly count: number
  readonly exact: boolean
}

/** A plan with its counts, without losses of which there are none. */
export interface CountedPlan extends Pick<ModelPlan, 'changes' | 'steps' | 'responses'> {
  readonly losses: readonly CountedContent[]
  readonly conditions: readonly CountedContent[]
  /** Tables and columns of archived content. */
  readonly kept: readonly ArchivedContent[]
  /** Attributes of the new model with several links or entries until the next write. */
  readonly narrowed: readonly string[]
}

/** Plans a change and counts its effects. @throws ApiError 400 if renames contradict the models, 409 if content cannot be restored */
export async function countedPlan(database: Database, change: ChangeToPlan): Promise<CountedPlan> {
  const { from, to, renames, choices, undoes } = change
  const plan = orRefused('ValidationError', () => planModelChange(from, to, renames, { ...choices, spans: database.spans }))
  const returned = undoes === null ? [] : await placesOf(database, pairModels(from, to, renames), undoes)
  const steps = await besideLeftovers(database, { from, to, number: choices.number ?? 1 }, plan.steps)
  const restoring = orRefused('ConflictError', () => withRestoration(steps, plan.restoreBefore, to, returned))
  const losses: CountedContent[] = []
  const values = new Map<string, number>()
  for (const loss of plan.losses) {
    const lost = await lostValues(database.main, loss, restoring)
    if (lost !== null) values.set(`${loss.name}:type`, lost)
    losses.push({ name: loss.name, about: loss.about, count: lost ?? (await counted(database.main, loss.count)), exact: true })
  }
  const conditions: CountedContent[] = []
  const narrowed: string[] = []
  for (const { name, about, count: query, exact, narrows = [] } of plan.conditions) {
    const known = values.get(name)
    const count = known ?? (await counted(database.main, query))
    if (count === 0) continue
    conditions.push({ name, about, count, exact: exact || known !== undefined })
    narrowed.push(...narrows)
  }
  return {
    changes: plan.changes,
    responses: plan.responses,
    steps: restoring,
    losses: losses.filter(({ count }) => count > 0),
    conditions,
    kept: plan.kept,
    narrowed: [...new Set(narrowed)],
  }
}

/** Content to restore, by its names in the model before the undo. */
async function placesOf(database: Database, pairs: ModelPairs, { kept }: UndoneChange): Promise<readonly ArchivedContent[]> {
  const places: ArchivedContent[] = []
  for (const each of kept) {
    // Without archived rows, their table does not exist.
    if (each.kind !== 'rows' || (await hasColumns(database.main, each.as))) places.push(formerPlace(each, pairs))
  }
  return places
}

function orRefused<Result>(name: 'ValidationError' | 'ConflictError', work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw new ApiError(name, (error as Error).message)
  }
}

/** Reads and counts the values that a conversion truncates, except restored ones. Null: the query of the loss counts them. */
async function lostValues(
  database: MainConnection,
  { converted, count, kept }: PlanLoss,
  steps: readonly PlanStep[],
): Promise<number | null> {
  if (converted === undefined) return null
  const step = steps.find((each) => each.kind === 'convertColumn' && kept.some(({ table, as }) => table === each.table && as === each.as))
  const restores = step?.kind === 'convertColumn' ? step.restores : undefined
  if (restores === undefined && converted.isCounted) return null
  return (await counted(database, count)) === 0 ? 0 : countLostValues(database, converted, restores)
}

async function counted(database: MainConnection, query: SqlText): Promise<number> {
  const [row] = await database.rows<{ count: number | string }>(toExpression(query))
  return Number(row!.count)
}

/** Steps that only add, without moving content or affecting requests in progress. */
const adding: ReadonlySet<PlanStep['kind']> = new Set(['createTable', 'addColumn', 'createIndex', 'storeContentTypes'])

export const onlyAdds = ({ steps }: Pick<ModelPlan, 'steps'>): boolean => steps.every(({ kind }) => adding.has(kind))

const batch = 1_000

type Value = string | number | bigint | object | null

interface Row {
  readonly id: number
  readonly value: Value
  readonly former: Value
}

/** A value in the form that conversions accept. */
function plainValue(value: Value): string | number | null {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}

/** A time of day with the fraction that the API shows; databases omit zeros. */
const timed = (value: string | number | null): string | number | null =>
  typeof value === 'string' && /^\d\d:\d\d:\d\d(?:\.\d+)?$/.test(value)
    ? `${value.slice(0, 8)}.${value.slice(9).padEnd(3, '0').slice(0, 3)}`
    : value

/** A column; no number type covers every `biginteger`. */
const selected = (column: string, type: ScalarType) => (type === 'biginteger' ? cast(sql.id(column), 'text') : sql.id(column))

/** `restores`: an earlier conversion from another column produced these values; where its result is unchanged, the original is restored. */
async function countLostValues(
  database: MainConnection,
  { table, column, conversion }: ConvertedValues,
  restores: { readonly from: string; readonly conversion: Conversion } | undefined,
): Promise<number> {
  const value = selected(column, conversion.from)
  const former = restores === undefined ? sql`null` : selected(restores.from, restores.conversion.from)
  let lost = 0
  let last = 0
  for (;;) {
    const rows = await database.rows<Row>(
      sql`select id, ${value} as value, ${former} as former from ${sql.table(table)}
          where id > ${last} and ${sql.id(column)} is not null order by id limit ${sql.lit(batch)}`,
    )
    for (const row of rows) {
      const value = plainValue(row.value)!
      const before = timed(plainValue(row.former))
      const comesBack = restores !== undefined && before !== null && isSame(timed(convertValue(restores.conversion, before)), timed(value))
      if (!comesBack && losesData(conversion, value)) lost++
    }
    if (rows.length < batch) return lost
    last = Number(rows.at(-1)!.id)
  }
}

/** Leftover tables and columns before a change. */
interface Leftovers {
  readonly tables: ReadonlySet<string>
  /** `table.column`, with names before the change. */
  readonly columns: ReadonlySet<string>
  /** Columns of these, and of `tables`, that do not match the new model. */
  readonly unfit: ReadonlySet<string>
  /** The former name of a renamed table. */
  formerName(table: string): string
  /** A step that renames a column out of the way. */
  aside(table: string, column: string): PlanStep
}

/** Replaces a step, by its kind. */
type Replacements = {
  readonly [Kind in PlanStep['kind']]?: (step: Extract<PlanStep, { kind: Kind }>, left: Leftovers) => readonly PlanStep[]
}

/** For kinds of steps that leftovers may obstruct. */
const besides: Replacements = {
  // Renamed content takes precedence over leftovers.
  renameColumn: (step, { columns, formerName, aside }) =>
    columns.has(`${formerName(step.table)}.${step.to}`) ? [aside(step.table, step.to), step] : [step],

  createTable: (step, { tables, unfit, aside }) => {
    const { name, columns } = step.table
    if (!tables.has(name)) return [step]
    return columns
      .filter((column) => unfit.has(`${name}.${column.name}`))
      .flatMap((column) => [aside(name, column.name), { kind: 'addColumn', table: name, column, foreignKey: null, risk: 'safe' }])
  },

  addColumn: (step, { columns, unfit, aside }) => {
    const path = `${step.table}.${step.column.name}`
    if (!columns.has(path)) return [step]
    return unfit.has(path) ? [aside(step.table, step.column.name), step] : []
  },
}

/** Adapts the steps of change `number` to leftovers in the database. */
async function besideLeftovers(
  { mismatches }: Pick<Database, 'mismatches'>,
  { from, to, number }: { readonly from: Model; readonly to: Model; readonly number: number },
  steps: readonly PlanStep[],
): Promise<readonly PlanStep[]> {
  if (!steps.some(({ kind }) => Object.hasOwn(besides, kind))) return steps
  const [before, after] = [await mismatches(from), await mismatches(to)]
  const known = new Set(before.types)
  const unfit = after.types.filter((sentence) => !known.has(sentence)).map((sentence) => sentence.slice(0, sentence.indexOf(' is ')))
  const formerNames = new Map<string, string>()
  // A table may get its name through an intermediate one.
  for (const step of steps) if (step.kind === 'renameTable') formerNames.set(step.to, formerNames.get(step.table) ?? step.table)
  const kept = archiveNames(number)
  const left: Leftovers = {
    tables: new Set(before.tables),
    columns: new Set(before.columns),
    unfit: new Set(unfit),
    formerName: (table) => formerNames.get(table) ?? table,
    aside: (table, column) => ({ kind: 'renameColumn', table, column, to: kept.of(column), risk: 'losesData' }),
  }
  return steps.flatMap((step) => besides[step.kind]?.(step as never, left) ?? [step])
}
