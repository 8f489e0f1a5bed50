// The plan of a change for the database as it is: what was left behind in it is neither made twice nor in the way, and what the change costs is
// counted.
import type { Database, MainConnection } from '../database/database.js'
import { hasColumns } from '../database/has-columns.js'
import { ApiError } from '../errors/errors.js'
import type { Model } from '../model/types.js'
import { planModelChange } from '../model-plans/plan.js'
import { withRestoration } from '../model-plans/restoration.js'
import { expressionOf, type SqlText } from '../model-plans/sql-text.js'
import type { PlanStep } from '../model-plans/steps.js'
import type { KeptPlace, ModelPlan, PlanChoices, Rename } from '../model-plans/types.js'
import { besideLeftovers } from './leftovers.js'

/** What a change is planned from. */
export interface ChangeToPlan {
  readonly from: Model
  readonly to: Model
  readonly renames: readonly Rename[]
  readonly choices: PlanChoices
  /** What is given back to the model. */
  readonly restored: readonly KeptPlace[]
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
export async function countedPlan(database: Database, { from, to, renames, choices, restored }: ChangeToPlan): Promise<CountedPlan> {
  const plan = orRefused('ValidationError', () => planModelChange(from, to, renames, choices))
  const there: KeptPlace[] = []
  // Of rows that are kept aside there is no table where there were none.
  for (const place of restored) if (place.kind !== 'rows' || (await hasColumns(database.main, place.as))) there.push(place)
  const steps = await besideLeftovers(database, { from, to, number: choices.number ?? 1 }, plan.steps)
  const losses: CountedContent[] = []
  for (const { name, about, count } of plan.losses) losses.push({ name, about, count: await counted(database.main, count), exact: true })
  const conditions: CountedContent[] = []
  const narrowed: string[] = []
  for (const { name, about, count: query, exact, narrows = [] } of plan.conditions) {
    const count = await counted(database.main, query)
    if (count === 0) continue
    conditions.push({ name, about, count, exact })
    narrowed.push(...narrows)
  }
  return {
    ...{ changes: plan.changes, responses: plan.responses },
    steps: orRefused('ConflictError', () => withRestoration(steps, plan.restoreBefore, to, there)),
    losses: losses.filter(({ count }) => count > 0),
    conditions,
    kept: plan.kept,
    narrowed: [...new Set(narrowed)],
  }
}

function orRefused<Result>(name: 'ValidationError' | 'ConflictError', work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw new ApiError(name, (error as Error).message)
  }
}

async function counted(database: MainConnection, query: SqlText): Promise<number> {
  const [row] = await database.rows<{ count: number | string }>(expressionOf(query))
  return Number(row!.count)
}

/** Steps that only add: they neither move content nor change what requests under way read and write. */
const adding: ReadonlySet<PlanStep['kind']> = new Set(['createTable', 'addColumn', 'createIndex', 'storeContentTypes'])

/** Whether a change only adds to the database. */
export const onlyAdds = ({ steps }: Pick<ModelPlan, 'steps'>): boolean => steps.every(({ kind }) => adding.has(kind))
