// The SQL of every filter operator.
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { ComparisonSign, Dialect, Expression } from '../../database/dialect.js'
import type { ScalarType } from '../../foundation/public/attribute-types.js'
import { attributeTypes } from '../../model/types/attribute-types.js'
import type { Contract } from '../contract.js'
import type { OperatorName } from '../operators.js'
export interface ComparedColumn {
  readonly dialect: Dialect
  readonly contract: Contract
  readonly column: Expression
  readonly type: ScalarType
}

/** Compiles an operator with a column and its bound values. */
type OperatorSql = (compared: ComparedColumn, values: readonly Expression[]) => RawBuilder<boolean>

const isWhole = (type: ScalarType): boolean => ['integer', 'biginteger'].includes(attributeTypes[type].stored)

const compare =
  (comparison: ComparisonSign): OperatorSql =>
  ({ dialect, column, type }, [value]) =>
    dialect.compare(column, comparison, value!, isWhole(type))

const matching =
  (kind: 'contains' | 'startsWith' | 'endsWith', fold: boolean): OperatorSql =>
  ({ dialect, column, contract }, [value]) =>
    dialect.matches(column, value!, kind, contract.textMatching === 'like' ? (fold ? 'ilike' : 'like') : fold ? 'folded' : 'exact')

const not =
  (condition: OperatorSql): OperatorSql =>
  (compared, values) =>
    sql`not (${condition(compared, values)})`

const equalIgnoringCase: OperatorSql = ({ dialect, column, contract }, [value]) =>
  dialect.equalsIgnoringCase(column, value!, contract.textMatching === 'like' ? 'ascii' : 'unicode')

const isIn: OperatorSql = ({ dialect, column, type }, values) =>
  values.length === 0 ? sql`${column} is null and ${column} is not null` : dialect.isAnyOf(column, values, isWhole(type))

const isNotIn: OperatorSql = (compared, values) => (values.length === 0 ? sql`1 = 1` : not(isIn)(compared, values))

export const operatorSql: Readonly<Record<OperatorName, OperatorSql>> = {
  $eq: compare('='),
  $ne: compare('<>'),
  $lt: compare('<'),
  $lte: compare('<='),
  $gt: compare('>'),
  $gte: compare('>='),
  $eqi: equalIgnoringCase,
  $nei: not(equalIgnoringCase),
  $in: isIn,
  $notIn: isNotIn,
  $between: (compared, [low, high]) => sql`${compare('>=')(compared, [low!])} and ${compare('<=')(compared, [high!])}`,
  $null: ({ column }) => sql`${column} is null`,
  $notNull: ({ column }) => sql`${column} is not null`,
  $contains: matching('contains', false),
  $containsi: matching('contains', true),
  $notContains: not(matching('contains', false)),
  $notContainsi: not(matching('contains', true)),
  $startsWith: matching('startsWith', false),
  $startsWithi: matching('startsWith', true),
  $endsWith: matching('endsWith', false),
  $endsWithi: matching('endsWith', true),
}
