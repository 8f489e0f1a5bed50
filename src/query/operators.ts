// The vocabulary of filter operators, one row each: how many values it takes, and whether they are understood by the attribute's
// type. Adding an operator is adding its name to public/content/filters.ts, a row here and its SQL in compile/operator-sql.ts.
import type { ComparisonOperators, TextOperators } from '../foundation/public/content/filters.js'

/** The operators that the types of queries have. */
export type OperatorName = keyof (ComparisonOperators<unknown> & TextOperators)

export interface Operator {
  /** `flag`: the value says whether the condition is inverted and is not compared. */
  readonly takes: 'one' | 'two' | 'many' | 'flag'
  /** True: values are converted to the attribute's type first (and refused when they cannot be); else compared as text. */
  readonly typed: boolean
}

const one: Operator = { takes: 'one', typed: true }
const text: Operator = { takes: 'one', typed: false }
const many: Operator = { takes: 'many', typed: true }
const flag: Operator = { takes: 'flag', typed: false }

/** The operators of the specification ("filters"); names are case-sensitive. */
export const operators: Readonly<Record<OperatorName, Operator>> = {
  $eq: one,
  $ne: one,
  $lt: one,
  $lte: one,
  $gt: one,
  $gte: one,
  $eqi: text,
  $nei: text,
  $in: many,
  $notIn: many,
  $between: { takes: 'two', typed: true },
  $null: flag,
  $notNull: flag,
  $contains: text,
  $containsi: text,
  $notContains: text,
  $notContainsi: text,
  $startsWith: text,
  $startsWithi: text,
  $endsWith: text,
  $endsWithi: text,
}

/** True for the name of an operator. */
export function isOperator(name: string): name is OperatorName {
  return Object.hasOwn(operators, name)
}
