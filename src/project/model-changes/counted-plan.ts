// The plan of a change for the database as it is: what was left behind in it is neither made twice nor in the way, and what the change costs is
// counted.
import { type Database, hasColumns, type MainConnection } from '../../database/database.js'
import { ApiError } from '../../foundation/errors/errors.js'
import { followed, inCommon, type MadeChange, type Undoing } from '../../model/diff/followed.js'
import { planModelChange } from '../../model/diff/plan.js'
import { withRestoration } from '../../model/diff/restoration.js'
import { type ReturningPlace, returnOf } from '../../model/diff/returns.js'
import { expressionOf, type SqlText } from '../../model/diff/sql-text.js'
import type { PlanStep } from '../../model/diff/steps.js'
import type { KeptPlace, ModelPlan, PlanChoices, PlanLoss, Rename } from '../../model/diff/types.js'
import type { Model } from '../../model/schema/types.js'
import { besideLeftovers } from './leftovers.js'
import { countLostValues } from './lost-values.js'

/** The change that another one undoes. */
export interface UndoneChange {
  readonly id: number
  /** What it kept aside. */
  readonly kept: readonly KeptPlace[]
  /** It, and the changes that were made since, oldest first. */
  readonly since: readonly MadeChange[]
}

/** What a change is planned from. */
export interface ChangeToPlan {
  readonly from: Model
  readonly to: Model
  readonly renames: readonly Rename[]
  readonly choices: PlanChoices
  /** What is undone, and given back to the model. */
  readonly undoes: UndoneChange | null
}

/** What a change hides, or leaves as it is although the new model would not take it. */
export interface CountedContent {
  readonly name: string
  /** One sentence. */
  readonly about: string
  /** How many values, rows or links; at most so many where `exact` is false. */
  readonly count: number
  readonly exact: boolean
}

/** A plan with its counts. Losses that are no losses, because nothing is there, are left out. */
export interface CountedPlan extends Pick<ModelPlan, 'changes' | 'steps' | 'responses'> {
  readonly losses: readonly CountedContent[]
  readonly conditions: readonly CountedContent[]
  /** Where content is kept aside. */
  readonly kept: readonly KeptPlace[]
  /** The attributes of the new model that hold more than one link or entry until the next write. */
  readonly narrowed: readonly string[]
}

/** Plans a change and counts what it costs. @throws ApiError 400 if renames contradict the models, 409 if content cannot be given back */
export async function countedPlan(database: Database, change: ChangeToPlan): Promise<CountedPlan> {
  const { from, to, renames, choices, undoes } = change
  const plan = orRefused('ValidationError', () => planModelChange(from, to, renames, { ...choices, spans: database.spans }))
  const returned = undoes === null ? [] : await placesOf(database, change, undoes)
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
    ...{ changes: plan.changes, responses: plan.responses },
    steps: restoring,
    losses: losses.filter(({ count }) => count > 0),
    conditions,
    kept: plan.kept,
    narrowed: [...new Set(narrowed)],
  }
}

/** What comes back, by its names of today. @throws ApiError 409 if it has no place, or would be lost */
async function placesOf(
  database: Database,
  { from, to, renames }: Pick<ChangeToPlan, 'from' | 'to' | 'renames'>,
  { kept, since }: UndoneChange,
): Promise<readonly ReturningPlace[]> {
  const undoing: Undoing = { own: since[0]!, later: since.slice(1), ...inCommon(from, to, renames) }
  const isThere = (table: string) => hasColumns(database.main, table)
  const places: ReturningPlace[] = []
  for (const each of kept) {
    // Of rows that are kept aside there is no table where there were none.
    if (each.kind === 'rows' && !(await isThere(each.as))) continue
    const { place, obstacles } = await returnOf(
      orRefused('ConflictError', () => followed(each, undoing)),
      undoing,
      isThere,
    )
    for (const { count, about } of obstacles) {
      const found = await counted(database.main, count)
      if (found > 0) throw new ApiError('ConflictError', about(found))
    }
    places.push(place)
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

/**
 * The values that lose something in a conversion, where a query cannot count them: only the values tell what a conversion leaves out of them,
 * and which of them come back as they were. Null: the query of the loss counts them.
 */
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
  const [row] = await database.rows<{ count: number | string }>(expressionOf(query))
  return Number(row!.count)
}

/** Steps that only add: they neither move content nor change what requests under way read and write. */
const adding: ReadonlySet<PlanStep['kind']> = new Set(['createTable', 'addColumn', 'createIndex', 'storeContentTypes'])

/** Whether a change only adds to the database. */
export const onlyAdds = ({ steps }: Pick<ModelPlan, 'steps'>): boolean => steps.every(({ kind }) => adding.has(kind))
