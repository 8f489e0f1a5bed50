// Remains of former models in the database: a step that would create them again uses them, or moves them away if they do not fit.

import { sql } from 'kysely'
import { type Database, hasColumns } from '../../database/database.js'
import { archiveNames } from '../../model/diff/comparison.js'
import type { PlanStep, StepOf } from '../../model/diff/steps.js'
import type { Model } from '../../model/schema/types.js'
import { describeTables } from '../../model/tables/tables.js'

/** The tables and columns that are left over, before a change. */
interface Leftovers {
  readonly tables: ReadonlySet<string>
  /** `table.column`, under the names before the change. */
  readonly columns: ReadonlySet<string>
  /** Those of `columns`, and of the columns of `tables`, that do not fit the new model. */
  readonly unfit: ReadonlySet<string>
  /** The former name of a table that the change renames. */
  formerName(table: string): string
  /** The step that moves a column away. */
  aside(table: string, column: string): PlanStep
}

/** The replacement of a step, by its kind. */
type Replacements = {
  readonly [Kind in PlanStep['kind']]?: (step: Extract<PlanStep, { kind: Kind }>, left: Leftovers) => readonly PlanStep[]
}

/** For the kinds that leftovers may be in the way of. */
const besides: Replacements = {
  // Renamed content has priority over remains.
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

/** The steps of change `number` from one model to another, with the remains in the database. */
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

/** Removes what steps that only add have added and `model`, which is in force, does not have. Resolves to the names of what stays. */
export async function withdraw(database: Database, steps: readonly PlanStep[], model: Model): Promise<readonly string[]> {
  const needed = new Map(describeTables(model).map(({ name, columns }) => [name, new Set(columns.map((column) => column.name))]))
  const left: string[] = []
  // Tables between others were made after these.
  for (const step of steps.toReversed()) {
    if (step.kind === 'createTable' && !needed.has(step.table.name)) {
      if (!(await withdrawTable(database, step.table.name))) left.push(step.table.name)
    } else if (step.kind === 'addColumn' && needed.get(step.table)?.has(step.column.name) !== true) {
      if (!(await withdrawColumn(database, step))) left.push(`${step.table}.${step.column.name}`)
    }
  }
  return left
}

async function withdrawTable({ main, writes }: Database, name: string): Promise<boolean> {
  if (!(await hasColumns(main, name))) return true
  const rows = await main.rows(sql`select 1 as found from ${sql.table(name)} limit 1`)
  return rows.length === 0 && isDone(writes.run(sql`drop table ${sql.table(name)}`))
}

async function withdrawColumn({ main, writes }: Database, { table, column }: StepOf<'addColumn'>): Promise<boolean> {
  if (!(await hasColumns(main, table, [column.name]))) return true
  const has = sql`${sql.id(column.name)} is not null`
  const rows = column.default === null ? await main.rows(sql`select 1 as found from ${sql.table(table)} where ${has} limit 1`) : []
  return rows.length === 0 && isDone(writes.run(sql`alter table ${sql.table(table)} drop column ${sql.id(column.name)}`))
}

const isDone = (work: Promise<void>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  )
