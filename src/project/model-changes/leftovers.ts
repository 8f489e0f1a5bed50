// What no model has any more and the database still has: a step that would make it again uses it, or moves it aside where it does not fit.
import type { Database } from '../../database/database.js'
import { keptNames } from '../../model/diff/kept.js'
import type { PlanStep } from '../../model/diff/steps.js'
import type { Model } from '../../model/schema/types.js'

/** The tables and columns that are left over, before a change. */
interface Leftovers {
  readonly tables: ReadonlySet<string>
  /** `table.column`, under the names before the change. */
  readonly columns: ReadonlySet<string>
  /** Those of `columns`, and of the columns of `tables`, that do not fit the new model. */
  readonly unfit: ReadonlySet<string>
  /** The former name of a table that the change renames. */
  formerName(table: string): string
  /** The step that moves a column aside. */
  aside(table: string, column: string): PlanStep
}

/** What takes the place of a step, by its kind. */
type Replacements = {
  readonly [Kind in PlanStep['kind']]?: (step: Extract<PlanStep, { kind: Kind }>, left: Leftovers) => readonly PlanStep[]
}

/** For the kinds that leftovers may be in the way of. */
const besides: Replacements = {
  // The content that is renamed goes before what was left behind.
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

/** The steps of change `number` from one model to another, beside what is left over in the database. */
export async function besideLeftovers(
  { mismatches }: Pick<Database, 'mismatches'>,
  { from, to, number }: { readonly from: Model; readonly to: Model; readonly number: number },
  steps: readonly PlanStep[],
): Promise<readonly PlanStep[]> {
  if (!steps.some(({ kind }) => Object.hasOwn(besides, kind))) return steps
  const [before, after] = [await mismatches(from), await mismatches(to)]
  const known = new Set(before.types)
  const unfit = after.types.filter((sentence) => !known.has(sentence)).map((sentence) => sentence.slice(0, sentence.indexOf(' is ')))
  const formerNames = new Map<string, string>()
  // A table may get its name by way of another one.
  for (const step of steps) if (step.kind === 'renameTable') formerNames.set(step.to, formerNames.get(step.table) ?? step.table)
  const kept = keptNames(number)
  const left: Leftovers = {
    tables: new Set(before.tables),
    columns: new Set(before.columns),
    unfit: new Set(unfit),
    formerName: (table) => formerNames.get(table) ?? table,
    aside: (table, column) => ({ kind: 'renameColumn', table, column, to: kept.of(column), risk: 'losesData' }),
  }
  return steps.flatMap((step) => besides[step.kind]?.(step as never, left) ?? [step])
}
