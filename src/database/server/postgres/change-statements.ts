// The statements of one step of a change of the content model (docs/spec/model-plans.md) in PostgreSQL's words.
import { type RawBuilder, sql } from 'kysely'
import { toExpression } from '../../../model/diff/sql-text.js'
import type { PlanStep, StepOf } from '../../../model/diff/steps.js'
import { archiveRowsStatement, rowStatement } from '../../../model/diff/steps.js'
import { type Column, type Index, quoted } from '../../../model/tables/table.js'
import { computedText, statementText } from '../../change-scripts.js'
import { isWiderType } from '../backfill-column.js'
import { addForeignKey, createIndex, createTable, declaredType } from './create-tables.js'
import { writePostgresSql } from './dialect.js'

/** Steps that statements alone do. Foreign keys of new tables are added when all of these are there. */
export type StatedPostgresStep = StepOf<
  | 'createTable'
  | 'renameTable'
  | 'keepTable'
  | 'dropTable'
  | 'addColumn'
  | 'renameColumn'
  | 'keepColumn'
  | 'createIndex'
  | 'dropIndex'
  | 'dropForeignKey'
  | 'deleteRows'
  | 'setValues'
>

type StepStatements = readonly RawBuilder<unknown>[]

const alter = (table: string, ...changes: readonly string[]): RawBuilder<unknown> =>
  sql.raw(`alter table ${quoted(table)} ${changes.join(', ')}`)

/** A column is added with `not null` only where it has a default: there may be rows. */
const defined = ({ name, type, notNull, default: standard }: Column): string =>
  `${quoted(name)} ${declaredType(type)}${standard === null ? '' : `${notNull ? ' not null' : ''} default ${standard}`}`

/** A unique index is a constraint, as Strapi makes it; others may have made an index of it. */
const dropIndex = (table: string, { name, unique }: Pick<Index, 'name' | 'unique'>): StepStatements => [
  ...(unique ? [alter(table, `drop constraint if exists ${quoted(name)}`)] : []),
  sql.raw(`drop index if exists ${quoted(name)}`),
]

const renameColumn = (table: string, column: string, to: string): RawBuilder<unknown> =>
  alter(table, `rename column ${quoted(column)} to ${quoted(to)}`)

/** A column under a name that nothing writes. */
export const archiveColumn = (table: string, { name, notNull, default: standard }: Column, as: string): StepStatements => [
  renameColumn(table, name, as),
  ...(standard === null ? [] : [alter(table, `alter column ${quoted(as)} drop default`)]),
  ...(notNull ? [alter(table, `alter column ${quoted(as)} drop not null`)] : []),
]

export const addColumn = (table: string, column: Column): RawBuilder<unknown> => alter(table, `add column ${defined(column)}`)

/** Otherwise the column is created again and filled. */
export const isDeclaredInPlace = ({ former, column }: Pick<StepOf<'declareColumn'>, 'former' | 'column'>): boolean =>
  declaredType(former.type) === declaredType(column.type) || isWiderType(former, column)

/** A column that is declared as one that holds all its values. */
export function widenColumn(table: string, { name, type, notNull, default: standard }: Column): StepStatements {
  const column = `alter column ${quoted(name)}`
  const isRequired = notNull && standard !== null
  return [
    alter(table, `${column} drop default`, `${column} type ${declaredType(type)} using ${quoted(name)}::${declaredType(type)}`),
    ...(isRequired ? [sql.raw(`update ${quoted(table)} set ${quoted(name)} = ${standard} where ${quoted(name)} is null`)] : []),
    alter(
      table,
      ...(standard === null ? [] : [`${column} set default ${standard}`]),
      isRequired ? `${column} set not null` : `${column} drop not null`,
    ),
  ]
}

/** The statements that move rows. New rows get ids greater than the moved ones and than any id that the source table has used. */
export function moveRowsStatements(step: StepOf<'moveRows'>): StepStatements {
  const sequenceOf = (table: string) => `pg_get_serial_sequence('${quoted(table).replaceAll("'", "''")}', 'id')`
  const last = (table: string) => `pg_sequence_last_value(${sequenceOf(table)}::regclass)`
  const greatest = `greatest((select max(id)::bigint from ${quoted(step.to)}), ${last(step.to)}, ${last(step.from)})`
  return [toExpression(rowStatement(step)), sql.raw(`select setval(${sequenceOf(step.to)}, ${greatest})`)]
}

/** The statements that keep rows: the table that they go to, and their copies. */
export const archiveRows = (step: StepOf<'keepRows'>): StepStatements => [
  sql.raw(`create table ${quoted(step.as)} as select * from ${quoted(step.table)} where false`),
  toExpression(archiveRowsStatement(step)),
]

/** Returns the statements of a step, in their order. */
export function stepStatements(step: StatedPostgresStep): StepStatements {
  switch (step.kind) {
    case 'createTable':
      return createTable(step.table).map((text) => sql.raw(text))
    case 'renameTable':
      return [alter(step.table, `rename to ${quoted(step.to)}`)]
    case 'keepTable':
      return [
        ...step.foreignKeys.map((name) => alter(step.table, `drop constraint if exists ${quoted(name)}`)),
        ...step.indexes.flatMap((name) => dropIndex(step.table, { name, unique: true })),
        alter(step.table, `rename to ${quoted(step.as)}`),
      ]
    case 'dropTable':
      return [sql.raw(`drop table ${quoted(step.table)}`)]
    case 'addColumn':
      return [
        addColumn(step.table, step.column),
        ...(step.foreignKey === null ? [] : [sql.raw(addForeignKey(step.table, step.foreignKey))]),
      ]
    case 'renameColumn':
      return [renameColumn(step.table, step.column, step.to)]
    case 'keepColumn':
      return archiveColumn(step.table, step.column, step.as)
    case 'createIndex':
      return [sql.raw(createIndex(step.table, step.index))]
    case 'dropIndex':
      return dropIndex(step.table, step.index)
    case 'dropForeignKey':
      return [alter(step.table, `drop constraint if exists ${quoted(step.foreignKey.name)}`)]
    case 'deleteRows':
    case 'setValues':
      return [toExpression(rowStatement(step))]
  }
}

const texts = (statements: readonly RawBuilder<unknown>[]): readonly string[] =>
  statements.map((statement) => {
    const { text, values } = writePostgresSql(statement)
    return statementText(text, values)
  })

const replaced = ({ table, column, former, as }: Pick<StepOf<'convertColumn'>, 'table' | 'column' | 'former' | 'as'>) =>
  texts([...archiveColumn(table, { ...former, name: column.name }, as), addColumn(table, column)])

/** Returns the statements of a step, and comments for computed values. */
export function describePostgresStep(step: PlanStep): readonly string[] {
  switch (step.kind) {
    case 'renameInSettings':
    case 'storeContentTypes':
    case 'makeDrafts':
      return [computedText(step)!]
    case 'convertColumn':
      return [...replaced(step), computedText(step)!]
    case 'declareColumn':
      return isDeclaredInPlace(step) ? texts(widenColumn(step.table, step.column)) : replaced(step)
    case 'renameForeignKey':
      return [`alter table ${quoted(step.table)} rename constraint ${quoted(step.from)} to ${quoted(step.to.name)}`]
    case 'keepRows':
      return texts(archiveRows(step))
    case 'moveRows':
      return texts(moveRowsStatements(step))
    case 'createTable':
      return [...texts(stepStatements(step)), ...step.table.foreignKeys.map((key) => addForeignKey(step.table.name, key))]
    default:
      return texts(stepStatements(step))
  }
}
