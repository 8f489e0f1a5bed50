// The vocabulary of filter operators, one row each: how many values it takes, whether they are understood by the
// attribute's type, and the SQL it becomes. Adding an operator is adding a row.
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Dialect, Expression } from '../database/dialect.js'
import type { Contract } from './contract.js'

export type OperatorName =
  | '$eq'
  | '$eqi'
  | '$ne'
  | '$nei'
  | '$lt'
  | '$lte'
  | '$gt'
  | '$gte'
  | '$in'
  | '$notIn'
  | '$contains'
  | '$notContains'
  | '$containsi'
  | '$notContainsi'
  | '$startsWith'
  | '$startsWithi'
  | '$endsWith'
  | '$endsWithi'
  | '$null'
  | '$notNull'
  | '$between'

export interface Operator {
  /** `flag`: the value says whether the condition is inverted and is not compared. */
  readonly takes: 'one' | 'two' | 'many' | 'flag'
  /** True: values are converted to the attribute's type first (and refused when they cannot be); else compared as text. */
  readonly typed: boolean
  readonly toSql: (dialect: Dialect, column: Expression, values: readonly Expression[], contract: Contract) => RawBuilder<boolean>
}

type ToSql = Operator['toSql']
const one = (toSql: ToSql): Operator => ({ takes: 'one', typed: true, toSql })
const text = (toSql: ToSql): Operator => ({ takes: 'one', typed: false, toSql })

const matching =
  (kind: 'contains' | 'startsWith' | 'endsWith', fold: boolean): ToSql =>
  (dialect, column, [value], contract) =>
    dialect.matches(column, value!, kind, contract.textMatching === 'like' ? 'like' : fold ? 'folded' : 'exact')

const not =
  (toSql: ToSql): ToSql =>
  (dialect, column, values, contract) =>
    sql`not (${toSql(dialect, column, values, contract)})`

const equalIgnoringCase: ToSql = (dialect, column, [value], contract) =>
  dialect.equalsIgnoringCase(column, value!, contract.textMatching === 'like' ? 'ascii' : 'unicode')

const among: ToSql = (_dialect, column, values) =>
  values.length === 0 ? sql`${column} is null and ${column} is not null` : sql`${column} in (${sql.join(values)})`

/** The operators of the specification ("filters"); names are case-sensitive. */
export const operators: Readonly<Record<OperatorName, Operator>> = {
  $eq: one((_dialect, column, [value]) => sql`${column} = ${value}`),
  $ne: one((_dialect, column, [value]) => sql`${column} <> ${value}`),
  $lt: one((_dialect, column, [value]) => sql`${column} < ${value}`),
  $lte: one((_dialect, column, [value]) => sql`${column} <= ${value}`),
  $gt: one((_dialect, column, [value]) => sql`${column} > ${value}`),
  $gte: one((_dialect, column, [value]) => sql`${column} >= ${value}`),
  $eqi: text(equalIgnoringCase),
  $nei: text(not(equalIgnoringCase)),
  $in: { takes: 'many', typed: true, toSql: among },
  $notIn: {
    takes: 'many',
    typed: true,
    toSql: (dialect, column, values, contract) => (values.length === 0 ? sql`1 = 1` : not(among)(dialect, column, values, contract)),
  },
  $between: { takes: 'two', typed: true, toSql: (_dialect, column, [low, high]) => sql`${column} between ${low} and ${high}` },
  $null: { takes: 'flag', typed: false, toSql: (_dialect, column) => sql`${column} is null` },
  $notNull: { takes: 'flag', typed: false, toSql: (_dialect, column) => sql`${column} is not null` },
  $contains: text(matching('contains', false)),
  $containsi: text(matching('contains', true)),
  $notContains: text(not(matching('contains', false))),
  $notContainsi: text(not(matching('contains', true))),
  $startsWith: text(matching('startsWith', false)),
  $startsWithi: text(matching('startsWith', true)),
  $endsWith: text(matching('endsWith', false)),
  $endsWithi: text(matching('endsWith', true)),
}

/** True for the name of an operator. */
export function isOperator(name: string): name is OperatorName {
  return Object.hasOwn(operators, name)
}
