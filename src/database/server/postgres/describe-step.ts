// The SQL of a step of a change of the content model in PostgreSQL's words, for readers.
import type { RawBuilder } from 'kysely'
import type { PlanStep, StepNamed } from '../../../model/diff/steps.js'
import { quoted } from '../../../model/tables/table.js'
import { computedText, statementText } from '../../step-text.js'
import { addForeignKey } from './create-tables.js'
import { writePostgresSql } from './dialect.js'
import { addColumn, declaredWider, isDeclaredInPlace, keptRows, movedAside, movedRows, statementsOf } from './model-steps.js'

const texts = (statements: readonly RawBuilder<unknown>[]): readonly string[] =>
  statements.map((statement) => {
    const { text, values } = writePostgresSql(statement)
    return statementText(text, values)
  })

const replaced = ({ table, column, former, as }: Pick<StepNamed<'convertColumn'>, 'table' | 'column' | 'former' | 'as'>) =>
  texts([...movedAside(table, { ...former, name: column.name }, as), addColumn(table, column)])

/** Returns the statements of a step, and comments for what is computed. */
export function describePostgresStep(step: PlanStep): readonly string[] {
  switch (step.kind) {
    case 'renameInSettings':
    case 'storeContentTypes':
    case 'makeDrafts':
      return [computedText(step)!]
    case 'convertColumn':
      return [...replaced(step), computedText(step)!]
    case 'declareColumn':
      return isDeclaredInPlace(step) ? texts(declaredWider(step.table, step.column)) : replaced(step)
    case 'renameForeignKey':
      return [`alter table ${quoted(step.table)} rename constraint ${quoted(step.from)} to ${quoted(step.to.name)}`]
    case 'keepRows':
      return texts(keptRows(step))
    case 'moveRows':
      return texts(movedRows(step))
    case 'createTable':
      return [...texts(statementsOf(step)), ...step.table.foreignKeys.map((key) => addForeignKey(step.table.name, key))]
    default:
      return texts(statementsOf(step))
  }
}
