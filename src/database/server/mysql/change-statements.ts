// DDL statements of model change steps on MySQL and MariaDB. Each one commits implicitly, so an interrupted step is inspected first and
// only its remaining statements are executed.

import type { RawBuilder } from 'kysely'
import { toExpression } from '../../../model/diff/sql-text.js'
import type { PlanStep, StepOf } from '../../../model/diff/steps.js'
import { archiveRowsStatement, rowStatement } from '../../../model/diff/steps.js'
import { type Column, type Index, quoted } from '../../../model/tables/table.js'
import { computedText } from '../../change-scripts.js'
import { isWiderType } from '../backfill-column.js'
import type { MysqlQueryable } from './client.js'
import { columnText, createStatement, declaredType, foreignKeyText, getCharacterSet, indexText } from './create-tables.js'
import { insertValues, literal, writeMysqlSql } from './translate-sql.js'

export type TableStep = StepOf<
  | 'createTable'
  | 'renameTable'
  | 'keepTable'
  | 'dropTable'
  | 'addColumn'
  | 'renameColumn'
  | 'keepColumn'
  | 'declareColumn'
  | 'convertColumn'
  | 'createIndex'
  | 'dropIndex'
  | 'renameForeignKey'
  | 'dropForeignKey'
>

export interface PresentTables {
  table(name: string): Promise<boolean>
  column(table: string, name: string): Promise<PresentColumn | null>
  columns(table: string): Promise<readonly { readonly name: string }[]>
  index(table: string, name: string): Promise<boolean>
  foreignKey(table: string, name: string): Promise<boolean>
  nextId(table: string): Promise<number>
  /** Character set clause for new tables, from `getCharacterSet`. */
  characters(): Promise<string>
  /** Octavo's indexes on a table, or on one of its columns. */
  ownIndexes(table: string, column: string | null): Promise<readonly string[]>
}

interface PresentColumn {
  /** Includes character set and collation. */
  readonly type: string
  readonly isRequired: boolean
}

const text = (value: string): string => literal(value)

/** Looks up objects in the catalog one at a time. */
export function inspectTables(client: MysqlQueryable): PresentTables {
  const found = async (from: string, where: string) => {
    const { rows } = await client.query(`select 1 from information_schema.${from} where ${where} limit 1`)
    return rows.length > 0
  }
  const of = (table: string, schema = 'table_schema') => `${schema} = database() and table_name = ${text(table)}`
  return {
    table: (name) => found('tables', of(name)),
    column: async (table, name) => {
      const { rows } = await client.query(
        `select column_type, is_nullable, character_set_name, collation_name from information_schema.columns where ${of(table)} and column_name = ${text(name)}`,
      )
      const [row] = rows as readonly (readonly [string, string, string | null, string | null])[]
      if (row === undefined) return null
      const [type, nullable, set, collation] = row
      return { type: set === null ? type : `${type} character set ${set} collate ${collation}`, isRequired: nullable === 'NO' }
    },
    columns: async (table) => {
      const { rows } = await client.query(`select column_name from information_schema.columns where ${of(table)} order by ordinal_position`)
      return rows.map(([name]) => ({ name: String(name) }))
    },
    characters: () => getCharacterSet(client),
    index: (table, name) => found('statistics', `${of(table)} and index_name = ${text(name)}`),
    foreignKey: (table, name) =>
      found('table_constraints', `${of(table)} and constraint_type = 'FOREIGN KEY' and constraint_name = ${text(name)}`),
    nextId: async (table) => {
      const { rows } = await client.query(`select auto_increment from information_schema.tables where ${of(table)}`)
      return Number(rows[0]?.[0] ?? 1)
    },
    ownIndexes: async (table, column) => {
      const only = column === null ? '' : ` and column_name = ${text(column)}`
      const { rows } = await client.query(
        `select distinct index_name from information_schema.statistics where ${of(table)} and index_name like 'octavo\\\\_%'${only}`,
      )
      return rows.flat() as string[]
    },
  }
}

const alter = (table: string, ...changes: readonly string[]): string => `alter table ${quoted(table)} ${changes.join(', ')}`

/** A column definition without `not null` if there is no default, since the table may have rows. */
const added = (column: Column): string => columnText({ ...column, notNull: column.notNull && column.default !== null })

/** Statements generated one at a time: each takes the effects of the previous one into account. `later`: the steps that follow. */
type StatementSequence = AsyncGenerator<string, void, void>

/** Remaining statements of a step. A converted column is left empty, to be filled afterwards. */
export async function* remainingStatements(
  step: TableStep,
  there: PresentTables,
  later: readonly { readonly kind: string }[],
): StatementSequence {
  switch (step.kind) {
    case 'createTable':
      yield createStatement(step.table, await there.characters())
      return
    case 'renameTable':
      if (await there.table(step.table)) yield `rename table ${quoted(step.table)} to ${quoted(step.to)}`
      return
    case 'keepTable':
      if (!(await there.table(step.table))) return
      // Foreign key names are unique in the database; index names are not.
      for (const name of step.foreignKeys) if (await there.foreignKey(step.table, name)) yield dropForeignKey(step.table, name)
      yield `rename table ${quoted(step.table)} to ${quoted(step.as)}`
      return
    case 'dropTable':
      yield `drop table if exists ${quoted(step.table)}`
      return
    case 'addColumn': {
      const { table, column, foreignKey } = step
      if ((await there.column(table, column.name)) === null) yield alter(table, `add column ${added(column)}`)
      if (foreignKey !== null && !(await there.foreignKey(table, foreignKey.name))) yield alter(table, `add ${foreignKeyText(foreignKey)}`)
      return
    }
    case 'renameColumn':
      if ((await there.column(step.table, step.column)) !== null) yield renameColumn(step.table, step.column, step.to)
      return
    case 'keepColumn':
      yield* archiveColumn(step.table, step.column, step.as, there)
      return
    case 'declareColumn':
      yield* declare(step, there)
      return
    case 'convertColumn':
      yield* replace(step, there)
      return
    default:
      yield* statementsOfKeys(step, there, later)
  }
}

const renameColumn = (table: string, column: string, to: string): string => alter(table, `rename column ${quoted(column)} to ${quoted(to)}`)

const dropForeignKey = (table: string, name: string): string => alter(table, `drop foreign key ${quoted(name)}`)

/** Renames a column and removes its constraints, so that new rows may omit it. */
async function* archiveColumn(table: string, { name, default: standard }: Column, as: string, there: PresentTables): StatementSequence {
  if ((await there.column(table, as)) === null) yield renameColumn(table, name, as)
  const column = (await there.column(table, as))!
  if (column.isRequired) yield alter(table, `modify column ${quoted(as)} ${column.type} null`)
  else if (standard !== null) yield alter(table, `alter column ${quoted(as)} drop default`)
}

async function* replace({ table, column, former, as }: StepOf<'convertColumn' | 'declareColumn'>, there: PresentTables): StatementSequence {
  yield* archiveColumn(table, { ...former, name: column.name }, as, there)
  if ((await there.column(table, column.name)) === null) yield alter(table, `add column ${added(column)}`)
}

/** True if the type can be changed in place; otherwise the column is recreated and filled. */
export const isDeclaredInPlace = ({ former, column }: Pick<StepOf<'declareColumn'>, 'former' | 'column'>): boolean =>
  isWiderType(former, column)

async function* declare(step: StepOf<'declareColumn'>, there: PresentTables): StatementSequence {
  const { table, column } = step
  if (!isDeclaredInPlace(step)) {
    yield* replace(step, there)
    return
  }
  const name = quoted(column.name)
  if (column.notNull && column.default !== null) yield `update ${quoted(table)} set ${name} = ${column.default} where ${name} is null`
  yield alter(table, `modify column ${added(column)}`)
}

type KeyStep = StepOf<'createIndex' | 'dropIndex' | 'renameForeignKey' | 'dropForeignKey'>

const addIndex = (table: string, index: Index): string => alter(table, `add ${indexText(index)}`)

async function* statementsOfKeys(step: KeyStep, there: PresentTables, later: readonly { readonly kind: string }[]): StatementSequence {
  const { table } = step
  switch (step.kind) {
    case 'createIndex':
      if (!(await there.index(table, step.index.name))) yield addIndex(table, step.index)
      return
    case 'dropIndex': {
      const { name } = step.index
      // A foreign key requires its index; one that is renamed later is recreated with its index.
      const goes = later.some((each) => isAboutForeignKey(each, name))
      if (goes && (await there.foreignKey(table, name))) yield dropForeignKey(table, name)
      if (await there.index(table, name)) yield alter(table, `drop index ${quoted(name)}`)
      return
    }
    case 'renameForeignKey':
      if (await there.foreignKey(table, step.from)) yield dropForeignKey(table, step.from)
      if (!(await there.foreignKey(table, step.to.name))) yield alter(table, `add ${foreignKeyText(step.to)}`)
      return
    case 'dropForeignKey':
      if (await there.foreignKey(table, step.foreignKey.name)) yield dropForeignKey(table, step.foreignKey.name)
      return
  }
}

function isAboutForeignKey(step: { readonly kind: string }, name: string): boolean {
  const { kind, from, foreignKey } = step as {
    readonly kind: string
    readonly from?: string
    readonly foreignKey?: { readonly name: string }
  }
  return (kind === 'renameForeignKey' && from === name) || (kind === 'dropForeignKey' && foreignKey?.name === name)
}

/** Statements that add the new columns to empty copies of the present tables. Names are temporary, as later steps may free them. */
export function columnChecks(steps: readonly PlanStep[], present: ReadonlySet<string>) {
  const formerNames = new Map<string, string>()
  const columns = new Map<string, Column[]>()
  for (const step of steps) {
    // A table may be renamed more than once.
    if (step.kind === 'renameTable') formerNames.set(step.to, formerNames.get(step.table) ?? step.table)
    if (step.kind !== 'addColumn' && step.kind !== 'convertColumn') continue
    const table = formerNames.get(step.table) ?? step.table
    if (present.has(table)) columns.set(table, [...(columns.get(table) ?? []), step.column])
  }
  const copy = 'octavo_check'
  return [...columns].map(([table, all]) => ({
    create: `create temporary table ${quoted(copy)} like ${quoted(table)}`,
    add: alter(copy, ...all.map((column, index) => `add column ${added({ ...column, name: `${copy}_${index}` })}`)),
    drop: `drop temporary table if exists ${quoted(copy)}`,
  }))
}

const textOf = (statement: RawBuilder<unknown>): string => insertValues(writeMysqlSql(statement))

/** Simulates the tables before a step: everything it requires exists, none of its results do. */
function stateBefore(step: TableStep): PresentTables {
  const seen = new Set<string>()
  const former = 'former' in step ? step.former : 'column' in step && typeof step.column !== 'string' ? step.column : null
  return {
    table: async () => true,
    column: async (_table, name) => {
      if (step.kind === 'renameColumn') return { type: '', isRequired: false }
      // The first lookup precedes the renaming.
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

/** The SQL of a step, for display, with comments for values that the service computes. `later`: the steps that follow. */
export async function describeMysqlStep(step: PlanStep, later: readonly PlanStep[]): Promise<readonly string[]> {
  switch (step.kind) {
    case 'renameInSettings':
    case 'storeContentTypes':
    case 'makeDrafts':
      return [computedText(step)!]
    case 'keepRows':
      return [`create table if not exists ${quoted(step.as)} like ${quoted(step.table)}`, textOf(toExpression(archiveRowsStatement(step)))]
    case 'moveRows':
    case 'deleteRows':
    case 'setValues':
      return [textOf(toExpression(rowStatement(step)))]
    default: {
      const statements: string[] = []
      for await (const statement of remainingStatements(step, stateBefore(step), later)) statements.push(statement)
      const computed = computedText(step)
      return computed === null ? statements : [...statements, computed]
    }
  }
}
