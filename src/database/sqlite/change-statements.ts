// SQLite statements for each step of a model change (docs/spec/model-plans.md).

import type { SqlText } from '../../model/diff/sql-text.js'
import type { PlanStep, StepOf } from '../../model/diff/steps.js'
import { rowStatement } from '../../model/diff/steps.js'
import { type Column, type ForeignKey, quoted } from '../../model/tables/table.js'
import { computedText, statementText } from '../change-scripts.js'
import { createIndex, createStatements, declaredType } from './create-tables.js'

interface StepStatement {
  readonly sql: string
  readonly values: readonly (string | number)[]
}

/** Steps computed by the service. */
type ComputedStep = Extract<PlanStep, { readonly kind: 'makeDrafts' | 'renameInSettings' | 'storeContentTypes' }>

/** Steps that are plain statements; `convertColumn` also fills its new column afterwards. */
export type StatedStep = Exclude<PlanStep, ComputedStep>

const plain = (sql: string): StepStatement => ({ sql, values: [] })

/** Appends a plan's SQL text to a prefix. */
const bound = (before: string, { text, values }: SqlText): StepStatement => ({ sql: before + text.join('?'), values })

/** A column definition without `NOT NULL` if there is no default: SQLite cannot add such a column. */
const defined = (column: Column): string => {
  const name = `${quoted(column.name)} ${declaredType(column.type)}`
  return column.default === null ? name : `${name} ${column.notNull ? 'NOT NULL ' : ''}DEFAULT ${column.default}`
}

const formerName = 'octavo_moving'

/** Archives a column under another name. A `NOT NULL` column is recreated as nullable, since it would reject new rows. */
function archiveColumn(table: string, column: Column, as: string): readonly StepStatement[] {
  const [name, aside] = [quoted(column.name), quoted(as)]
  if (!column.notNull) return [plain(`alter table ${quoted(table)} rename column ${name} to ${aside}`)]
  return [
    plain(`alter table ${quoted(table)} add column ${aside} ${declaredType(column.type)}`),
    plain(`update ${quoted(table)} set ${aside} = ${name}`),
    plain(`alter table ${quoted(table)} drop column ${name}`),
  ]
}

/** Changes a column's declaration. SQLite cannot alter it, so the column is recreated and its values copied. */
function redeclareColumn(table: string, column: Column): readonly StepStatement[] {
  const [name, former] = [quoted(column.name), quoted(formerName)]
  const value = column.notNull && column.default !== null ? `coalesce(${former}, ${column.default})` : former
  return [
    plain(`alter table ${quoted(table)} rename column ${name} to ${former}`),
    plain(`alter table ${quoted(table)} add column ${defined(column)}`),
    plain(`update ${quoted(table)} set ${name} = ${value}`),
    plain(`alter table ${quoted(table)} drop column ${former}`),
  ]
}

const foreignKeyClause = ({ references, onDelete }: ForeignKey): string =>
  ` REFERENCES ${quoted(references.table)} (${references.columns.map(quoted).join(', ')}) ON DELETE ${onDelete}`

/** The statements of a step; none for foreign keys, whose names SQLite ignores. Run with `foreign_keys` off, or deletes would cascade. */
export function stepStatements(step: StatedStep): readonly StepStatement[] {
  const alter = (table: string, change: string) => plain(`alter table ${quoted(table)} ${change}`)
  const rename = (table: string, column: string, to: string) => alter(table, `rename column ${quoted(column)} to ${quoted(to)}`)
  switch (step.kind) {
    case 'createTable':
      return createStatements(step.table).map(plain)
    case 'renameTable':
      return [alter(step.table, `rename to ${quoted(step.to)}`)]
    case 'keepTable':
      return [
        ...step.indexes.map((name) => plain(`drop index if exists ${quoted(name)}`)),
        alter(step.table, `rename to ${quoted(step.as)}`),
      ]
    case 'dropTable':
      return [plain(`drop table ${quoted(step.table)}`)]
    case 'addColumn':
      return [alter(step.table, `add column ${defined(step.column)}${step.foreignKey === null ? '' : foreignKeyClause(step.foreignKey)}`)]
    case 'renameColumn':
      return [rename(step.table, step.column, step.to)]
    case 'keepColumn':
      return archiveColumn(step.table, step.column, step.as)
    case 'convertColumn':
      // Under its new name: it has been renamed by now.
      return [
        ...archiveColumn(step.table, { ...step.former, name: step.column.name }, step.as),
        alter(step.table, `add column ${defined(step.column)}`),
      ]
    case 'createIndex':
      return [plain(createIndex(step.table, step.index))]
    case 'dropIndex':
      return [plain(`drop index if exists ${quoted(step.index.name)}`)]
    case 'declareColumn':
      return redeclareColumn(step.table, step.column)
    case 'renameForeignKey':
    case 'dropForeignKey':
      return []
    default:
      return statementsOfRows(step)
  }
}

/** Carry over the last assigned ids; tables of archived rows have none. */
const initializeSequence =
  'insert into sqlite_sequence (name, seq) select ?, seq from sqlite_sequence where name = ? and not exists (select 1 from sqlite_sequence where name = ?)'
const raiseSequence =
  'update sqlite_sequence set seq = max(seq, coalesce((select other.seq from sqlite_sequence as other where other.name = ?), 0)) where name = ?'

function statementsOfRows(step: StepOf<'moveRows' | 'keepRows' | 'deleteRows' | 'setValues'>): readonly StepStatement[] {
  switch (step.kind) {
    case 'moveRows':
      return [
        bound('', rowStatement(step)),
        { sql: initializeSequence, values: [step.to, step.from, step.to] },
        { sql: raiseSequence, values: [step.from, step.to] },
      ]
    case 'keepRows':
      return [bound(`create table ${quoted(step.as)} as select * from ${quoted(step.table)} where `, step.where)]
    case 'deleteRows':
    case 'setValues':
      return [bound('', rowStatement(step))]
  }
}

/** The SQL of a step, for display, with comments for values that the service computes. */
export function describeSqliteStep(step: PlanStep): readonly string[] {
  const computed = computedText(step) ?? []
  if (step.kind === 'renameInSettings' || step.kind === 'storeContentTypes' || step.kind === 'makeDrafts') return [computed].flat()
  return [...stepStatements(step).map(({ sql, values }) => statementText(sql, values)), ...[computed].flat()]
}
