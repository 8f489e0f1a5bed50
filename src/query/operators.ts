// The filter operators, one row each: the number of values, and whether they have the attribute's type. To add an operator, add
// its name to public/content/queries.ts, a row here and its SQL to compile/conditions.ts.
import type { ComparisonOperators, TextOperators } from '../foundation/public/content/queries.js'

export type OperatorName = keyof (ComparisonOperators<unknown> & TextOperators)

interface Operator {
  /** `flag`: the value only inverts the condition and is not compared. */
  readonly takes: 'one' | 'two' | 'many' | 'flag'
  /** True: values are converted to the attribute's type, and refused if they cannot be; otherwise compared as text. */
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

export function isOperator(name: string): name is OperatorName {
  return Object.hasOwn(operators, name)
}
