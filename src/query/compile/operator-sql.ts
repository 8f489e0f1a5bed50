// The SQL of every filter operator.
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Dialect, Expression } from '../../database/dialect.js'
import type { Contract } from '../contract.js'
import type { OperatorName } from '../operators.js'

/** The condition that an operator makes of a column and its bound values. */
type OperatorSql = (dialect: Dialect, column: Expression, values: readonly Expression[], contract: Contract) => RawBuilder<boolean>

const matching =
  (kind: 'contains' | 'startsWith' | 'endsWith', fold: boolean): OperatorSql =>
  (dialect, column, [value], contract) =>
    dialect.matches(column, value!, kind, contract.textMatching === 'like' ? (fold ? 'ilike' : 'like') : fold ? 'folded' : 'exact')

const not =
  (condition: OperatorSql): OperatorSql =>
  (dialect, column, values, contract) =>
    sql`not (${condition(dialect, column, values, contract)})`

const equalIgnoringCase: OperatorSql = (dialect, column, [value], contract) =>
  dialect.equalsIgnoringCase(column, value!, contract.textMatching === 'like' ? 'ascii' : 'unicode')

const isIn: OperatorSql = (_dialect, column, values) =>
  values.length === 0 ? sql`${column} is null and ${column} is not null` : sql`${column} in (${sql.join(values)})`

const isNotIn: OperatorSql = (dialect, column, values, contract) =>
  values.length === 0 ? sql`1 = 1` : not(isIn)(dialect, column, values, contract)

export const operatorSql: Readonly<Record<OperatorName, OperatorSql>> = {
  $eq: (_dialect, column, [value]) => sql`${column} = ${value}`,
  $ne: (_dialect, column, [value]) => sql`${column} <> ${value}`,
  $lt: (_dialect, column, [value]) => sql`${column} < ${value}`,
  $lte: (_dialect, column, [value]) => sql`${column} <= ${value}`,
  $gt: (_dialect, column, [value]) => sql`${column} > ${value}`,
  $gte: (_dialect, column, [value]) => sql`${column} >= ${value}`,
  $eqi: equalIgnoringCase,
  $nei: not(equalIgnoringCase),
  $in: isIn,
  $notIn: isNotIn,
  $between: (_dialect, column, [low, high]) => sql`${column} between ${low} and ${high}`,
  $null: (_dialect, column) => sql`${column} is null`,
  $notNull: (_dialect, column) => sql`${column} is not null`,
  $contains: matching('contains', false),
  $containsi: matching('contains', true),
  $notContains: not(matching('contains', false)),
  $notContainsi: not(matching('contains', true)),
  $startsWith: matching('startsWith', false),
  $startsWithi: matching('startsWith', true),
  $endsWith: matching('endsWith', false),
  $endsWithi: matching('endsWith', true),
}
