// The operands of `filters`: which operators an attribute takes, and with which values.

/** `$and`, `$or` and `$not`, which join filters. */
export interface Junctions<Filters> {
  readonly $and?: readonly Filters[]
  readonly $or?: readonly Filters[]
  readonly $not?: Filters
}

/** Operators of every attribute. */
export interface PresenceOperators {
  readonly $null?: boolean
  readonly $notNull?: boolean
}

/** Operators that compare with equal values. */
export interface EqualityOperators<Value> extends PresenceOperators {
  readonly $eq?: Value
  readonly $ne?: Value
  readonly $in?: readonly Value[]
  readonly $notIn?: readonly Value[]
}

/** Operators that compare by size. */
export interface ComparisonOperators<Value> extends EqualityOperators<Value> {
  readonly $lt?: Value
  readonly $lte?: Value
  readonly $gt?: Value
  readonly $gte?: Value
  readonly $between?: readonly [Value, Value]
}

/** Operators that look into texts. The `i` forms ignore case. */
export interface TextOperators {
  readonly $eqi?: string
  readonly $nei?: string
  readonly $contains?: string
  readonly $notContains?: string
  readonly $containsi?: string
  readonly $notContainsi?: string
  readonly $startsWith?: string
  readonly $startsWithi?: string
  readonly $endsWith?: string
  readonly $endsWithi?: string
}

/** A value (`$eq`), a list of values (`$in`), or operators. `$not` holds if what is below it does not. */
type Operand<Value, Operators> = Value | readonly Value[] | (Operators & { readonly $not?: Operators })

/** A condition on a string, text, richtext, email or uid. */
export type TextFilter = Operand<string, ComparisonOperators<string> & TextOperators>

/** A condition on an enumeration. */
export type ChoiceFilter<Value extends string> = Operand<Value, EqualityOperators<Value> & TextOperators>

/** A condition on an integer, float or decimal, and on the numeric `id`. */
export type NumberFilter = Operand<number, ComparisonOperators<number>>

/** A condition on a biginteger; a number beyond 2⁵³ must be a string or bigint. */
export type BigintegerFilter = Operand<string | number | bigint, ComparisonOperators<string | number | bigint>>

/** A condition on a boolean. */
export type BooleanFilter = Operand<boolean, EqualityOperators<boolean>>

/** A condition on a date, datetime or timestamp: ISO 8601 text, a Date, or milliseconds for moments. */
export type DateFilter = Operand<string | Date, ComparisonOperators<string | Date>>

/** A condition on a moment. */
export type MomentFilter = Operand<string | number | Date, ComparisonOperators<string | number | Date>>

/** A condition on a time: `HH:mm:ss.SSS`. */
export type TimeFilter = Operand<string, ComparisonOperators<string>>

/** A condition on json or blocks, which are compared as text. */
export type JsonFilter = Operand<string, EqualityOperators<string> & TextOperators>

/** Conditions on related documents; a number is a row id. A documentId needs `{ documentId: … }`. */
export type LinkFilter<Filters> = Operand<number, EqualityOperators<number>> | (Filters & EqualityOperators<number>)
