// PostgreSQL statements for each step of a model change (docs/spec/model-plans.md).
import { type RawBuilder, sql } from 'kysely'
import { toExpression } from '../../../model/diff/sql-text.js'
import type { PlanStep, StepOf } from '../../../model/diff/steps.js'
import { archiveRowsStatement, rowStatement } from '../../../model/diff/steps.js'
import { type Column, type Index, quoted } from '../../../model/tables/table.js'
import { computedText, statementText } from '../../change-scripts.js'
import { isWiderType } from '../backfill-column.js'
import { addForeignKey, createIndex, createTable, declaredType } from './create-tables.js'
import { writePostgresSql } from './dialect.js'

/** Steps that are plain statements. Foreign keys of new tables are added after all of these. */
type StatedPostgresStep = StepOf<
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

/** A column definition without `not null` if there is no default, since the table may have rows. */
const defined = ({ name, type, notNull, default: standard }: Column): string =>
  `${quoted(name)} ${declaredType(type)}${standard === null ? '' : `${notNull ? ' not null' : ''} default ${standard}`}`

/** Unique indexes are constraints, as created by Strapi, or plain indexes created by other tools. */
const dropIndex = (table: string, { name, unique }: Pick<Index, 'name' | 'unique'>): StepStatements => [
  ...(unique ? [alter(table, `drop constraint if exists ${quoted(name)}`)] : []),
  sql.raw(`drop index if exists ${quoted(name)}`),
]

const renameColumn = (table: string, column: string, to: string): RawBuilder<unknown> =>
  alter(table, `rename column ${quoted(column)} to ${quoted(to)}`)

/** Renames a column and removes its constraints, so that new rows may omit it. */
export const archiveColumn = (table: string, { name, notNull, default: standard }: Column, as: string): StepStatements => [
  renameColumn(table, name, as),
  ...(standard === null ? [] : [alter(table, `alter column ${quoted(as)} drop default`)]),
  ...(notNull ? [alter(table, `alter column ${quoted(as)} drop not null`)] : []),
]

export const addColumn = (table: string, column: Column): RawBuilder<unknown> => alter(table, `add column ${defined(column)}`)

/** True if the type can be changed in place; otherwise the column is recreated and filled. */
export const isDeclaredInPlace = ({ former, column }: Pick<StepOf<'declareColumn'>, 'former' | 'column'>): boolean =>
  declaredType(former.type) === declaredType(column.type) || isWiderType(former, column)

/** Changes a column to a type that holds all its values. */
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

/** Moves rows. New rows get ids beyond those of the moved rows and beyond any id the source table has used. */
export function moveRowsStatements(step: StepOf<'moveRows'>): StepStatements {
  const sequenceOf = (table: string) => `pg_get_serial_sequence('${quoted(table).replaceAll("'", "''")}', 'id')`
  const last = (table: string) => `pg_sequence_last_value(${sequenceOf(table)}::regclass)`
  const greatest = `greatest((select max(id)::bigint from ${quoted(step.to)}), ${last(step.to)}, ${last(step.from)})`
  return [toExpression(rowStatement(step)), sql.raw(`select setval(${sequenceOf(step.to)}, ${greatest})`)]
}

/** Creates an archive table and copies the rows. */
export const archiveRows = (step: StepOf<'keepRows'>): StepStatements => [
  sql.raw(`create table ${quoted(step.as)} as select * from ${quoted(step.table)} where false`),
  toExpression(archiveRowsStatement(step)),
]

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

/** The SQL of a step, for display, with comments for values that the service computes. */
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
