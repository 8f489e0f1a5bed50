// The steps that take back a change of the content model, in the words of MySQL and MariaDB, and the copies of rows that they need.

import { copiesPrefix, type ReversingStep, type RowsToCopy } from '../../../model/diff/reversing.js'
import { expressionOf, id, type SqlText, sqlText } from '../../../model/diff/sql-text.js'
import { type Column, quoted } from '../../../model/tables/table.js'
import type { MysqlQueryable } from './catalog.js'
import { columnText, foreignKeyText } from './create-tables.js'
import { literal } from './literals.js'
import type { PresentTables, StatementsInTurn } from './model-steps.js'

/** Steps on the way back that change tables as no step of a change does. */
export type TableReversal = Extract<ReversingStep, { readonly kind: 'dropColumn' | 'putColumnBack' | 'addForeignKey' }>

const alter = (table: string, change: string): string => `alter table ${quoted(table)} ${change}`

/** The statements of a step that are still to be executed. */
export async function* reversalsLeft(step: TableReversal, there: PresentTables): StatementsInTurn {
  const { table } = step
  switch (step.kind) {
    case 'dropColumn':
      if ((await there.column(table, step.column)) !== null) yield alter(table, `drop column ${quoted(step.column)}`)
      return
    case 'addForeignKey':
      if (!(await there.foreignKey(table, step.foreignKey.name))) yield alter(table, `add ${foreignKeyText(step.foreignKey)}`)
      return
    case 'putColumnBack': {
      const { column, as } = step
      if ((await there.column(table, as)) !== null) {
        if ((await there.column(table, column.name)) !== null) yield alter(table, `drop column ${quoted(column.name)}`)
        yield alter(table, `rename column ${quoted(as)} to ${quoted(column.name)}`)
      } else if (!step.declares) return
      if (step.declares || isDeclaredMore(column)) yield alter(table, `modify column ${columnText(column)}`)
    }
  }
}

/** Whether more is said of a column than its type. */
const isDeclaredMore = ({ notNull, default: standard }: Column): boolean => notNull || standard !== null

const wordsOf = ({ table, where }: RowsToCopy): SqlText =>
  where === null ? sqlText`from ${id(table)}` : sqlText`from ${id(table)} where ${where}`

/** Looks for a row that a step changes or deletes. */
export const someRow = (rows: RowsToCopy) => expressionOf(sqlText`select 1 as found ${wordsOf(rows)} limit 1`)

/** Makes the table of copies; what an earlier try has left of it is empty. */
export const tableOfCopies = ({ table, as }: RowsToCopy): string => `create table if not exists ${quoted(as)} like ${quoted(table)}`

/** Copies the rows that a step changes or deletes. */
export const copyStatement = (rows: RowsToCopy) => expressionOf(sqlText`insert into ${id(rows.as)} select * ${wordsOf(rows)}`)

/** Writes copied rows to where they were. */
export function putBackStatement(table: string, from: string, columns: readonly { readonly name: string }[]): string {
  const names = columns.map(({ name }) => quoted(name)).join(', ')
  return `replace into ${quoted(table)} (${names}) select ${names} from ${quoted(from)}`
}

/** Drops all copies, when they are needed no more. */
export async function dropCopies(client: MysqlQueryable): Promise<void> {
  const { rows } = await client.query(
    `select table_name from information_schema.tables where table_schema = database() and table_name like ${literal(`${copiesPrefix.replaceAll('_', '\\_')}%`, 'plain')}`,
  )
  for (const [name] of rows) await client.query(`drop table if exists ${quoted(String(name))}`)
}
