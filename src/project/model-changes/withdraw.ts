// Removes again what a change that was not made has added to the database, where it has no content.
import { sql } from 'kysely'
import { type Database, hasColumns } from '../../database/database.js'
import type { PlanStep, StepNamed } from '../../model/diff/steps.js'
import type { Model } from '../../model/schema/types.js'
import { describeTables } from '../../model/tables/tables.js'

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

async function withdrawColumn({ main, writes }: Database, { table, column }: StepNamed<'addColumn'>): Promise<boolean> {
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
