// The SQL of a step of a change of the content model in the words of MySQL and MariaDB, for readers.
import type { RawBuilder } from 'kysely'
import { keptRowsStatement, rowStatement } from '../../../model/diff/row-statements.js'
import { expressionOf } from '../../../model/diff/sql-text.js'
import type { PlanStep } from '../../../model/diff/steps.js'
import { quoted } from '../../../model/tables/table.js'
import { computedText, statementText } from '../../step-text.js'
import { declaredType } from './create-tables.js'
import { type PresentTables, statementsLeft, type TableStep } from './model-steps.js'
import { writeMysqlSql } from './words.js'

const textOf = (statement: RawBuilder<unknown>): string => {
  const { text, values } = writeMysqlSql(statement)
  return statementText(text, values)
}

/** What a step finds that nobody has begun: all that it needs, and nothing that it makes. */
function beforeIt(step: TableStep): PresentTables {
  const seen = new Set<string>()
  const former = 'former' in step ? step.former : 'column' in step && typeof step.column !== 'string' ? step.column : null
  return {
    table: async () => true,
    column: async (_table, name) => {
      if (step.kind === 'renameColumn') return { type: '', isRequired: false }
      // What it is called later is not there when it is asked for first.
      const isThere = seen.has(name)
      seen.add(name)
      return isThere && former !== null ? { type: declaredType(former.type), isRequired: former.notNull } : null
    },
    columns: async () => [],
    index: async () => step.kind !== 'createIndex',
    foreignKey: async (_table, name) => step.kind !== 'addColumn' && (step.kind !== 'renameForeignKey' || name === step.from),
    characters: async () => '',
    nextId: async () => 1,
    ownIndexes: async () => [],
  }
}

/** Returns the statements of a step, and comments for what is computed. `later`: the steps behind it. */
export async function describeMysqlStep(step: PlanStep, later: readonly PlanStep[]): Promise<readonly string[]> {
  switch (step.kind) {
    case 'renameInSettings':
    case 'storeContentTypes':
    case 'makeDrafts':
      return [computedText(step)!]
    case 'keepRows':
      return [`create table if not exists ${quoted(step.as)} like ${quoted(step.table)}`, textOf(expressionOf(keptRowsStatement(step)))]
    case 'moveRows':
    case 'deleteRows':
    case 'setValues':
      return [textOf(expressionOf(rowStatement(step)))]
    default: {
      const statements: string[] = []
      for await (const statement of statementsLeft(step, beforeIt(step), later)) statements.push(statement)
      const computed = computedText(step)
      return computed === null ? statements : [...statements, computed]
    }
  }
}
