// The statements of the steps that change rows, in words of every database.
import { id, joinedText, type SqlText, sqlText } from './sql-text.js'
import type { StepNamed } from './steps.js'

const names = (columns: readonly string[]): SqlText =>
  joinedText(
    columns.map((column) => sqlText`${id(column)}`),
    ', ',
  )

/** The statement of a step that changes rows. */
export function rowStatement(step: StepNamed<'moveRows' | 'deleteRows' | 'setValues'>): SqlText {
  switch (step.kind) {
    case 'moveRows': {
      const [from, to] = [step.columns.map((column) => column.from), step.columns.map((column) => column.to)]
      return sqlText`insert into ${id(step.to)} (${names(to)}) select ${names(from)} from ${id(step.from)} order by id`
    }
    case 'deleteRows':
      return sqlText`delete from ${id(step.table)} where ${step.where}`
    case 'setValues': {
      const set = sqlText`update ${id(step.table)} set ${id(step.column)} = ${step.value ?? sqlText`null`}`
      return step.where === null ? set : sqlText`${set} where ${step.where}`
    }
  }
}

/** Copies the rows that are kept to their table, which is there already. */
export const keptRowsStatement = ({ table, as, where }: StepNamed<'keepRows'>): SqlText =>
  sqlText`insert into ${id(as)} select * from ${id(table)} where ${where}`
