// The few places where databases differ, as functions that build SQL. Asking a dialect for its name elsewhere is an error.
import type { RawBuilder } from 'kysely'
import type { Answer } from '../model/types/attribute-type.js'
import type { Statement } from './plan.js'
import type { ListedDocuments, MomentFault, SelectedRows, Stored } from './portable-sql.js'

/** A piece of SQL: a column or a bound value. */
export type Expression = RawBuilder<unknown>

/**
 * `like`, `ilike`: Strapi's matching on this database, of the operators without and with `i`. `exact`: by character. `folded`: case
 * folded beyond ASCII.
 */
export type Matching = 'like' | 'ilike' | 'exact' | 'folded'

/** The types of the columns of bound rows. */
export type BoundType = 'integer' | 'real' | 'text'

export type ComparisonSign = '=' | '<>' | '<' | '<=' | '>' | '>='

export interface Dialect {
  /** The text of a query with its placeholders; bound values must be `Parameter`s of a plan. */
  compile(query: Expression): Statement
  /** True where `column` contains, starts or ends with the text `value`; `%`, `_` and `\` in it mean themselves. */
  matches(column: Expression, value: Expression, kind: 'contains' | 'startsWith' | 'endsWith', matching: Matching): RawBuilder<boolean>
  /**
   * Compares a column with a bound value, a number in any notation for numeric columns. `isWhole`: the column has integers, the value may
   * be a fraction; a value that is not a number is greater than all numbers.
   */
  compare(column: Expression, comparison: ComparisonSign, value: Expression, isWhole: boolean): RawBuilder<boolean>
  /** True where a column has one of some bound values; at least one. `isWhole` as in `compared`. */
  isAnyOf(column: Expression, values: readonly Expression[], isWhole: boolean): RawBuilder<boolean>
  equalsIgnoringCase(column: Expression, value: Expression, folding: 'ascii' | 'unicode'): RawBuilder<boolean>
  /** A table named `as` with a column `value` of the numbers in a bound list, which is one parameter. */
  numberTable(list: Expression, as: string): Expression
  /** A bound number for `limit` or `offset`. */
  rowCount(value: Expression): Expression
  /** True if `offset` reads whole rows rather than index entries. */
  readonly readsSkippedRows: boolean
  /** Tables as a FROM clause that begins at the first of them and goes on in this order. */
  joinedInOrder(tables: readonly Expression[]): Expression
  /** The column, in a comparison that must not choose the index. */
  unindexed(column: Expression): Expression
  /** The column as a result column for this `answer`: 64-bit integers as text, with all digits. */
  selected(column: Expression, answer: Answer): Expression
  /** Bound ids of rows or documents for the parentheses of `in`. */
  list(values: readonly (number | string)[]): Expression
  /** Bound rows as a table named `as`, with their position from 0 as its column `ordinal`. */
  rows<Name extends string>(rows: readonly (readonly Stored[])[], columns: Readonly<Record<Name, BoundType>>, as: string): Expression
  /** A table named `as` of the rows of some selects, which may depend on the row around it; with the types of its columns. */
  lateral(selects: readonly SelectedRows[], types: Readonly<Record<string, BoundType>>, as: string): Expression
  /** The documents of some selects as one text, in the order of their places; they may depend on the row around them. */
  documentList(selects: readonly ListedDocuments[]): Expression
  /** A key of `order by`. `nullsFirst`: nulls are the smallest values; otherwise they are where the database has them. */
  orderKey(value: Expression, descending: boolean, nullsFirst: boolean): Expression
  /** True if nulls are the greatest values by default; otherwise they are the smallest. */
  readonly nullsAreGreatest: boolean
  /** The first of a group's values in the order of such a key. */
  firstValue(value: Expression, descending: boolean, nullsFirst: boolean): Expression
  /** True where two values of a `timestamp` attribute differ, as Strapi's publication reads them. */
  timestampsDiffer(one: Expression, other: Expression): Expression
  /** Why a column of moments does not give one back as it was written, as the end of a sentence; null: it does. Absent: each does. */
  readonly momentFault?: MomentFault
  /** True if comparisons with text use the column's collation, which may ignore case, accents and trailing spaces. */
  readonly collates: boolean
  /** True if two values of one type differ or one is null; texts are compared by character, regardless of collation. */
  differs(one: Expression, other: Expression): RawBuilder<boolean>
  /** A place before the first of those that are taken. */
  positionBefore(first: Expression): Expression
  /** The time of day by the database's own clock, in whole milliseconds since 1970. */
  readonly timeOfDay: Expression
  /** Whole milliseconds of a clock shared by all processes on this database, on any machine; with an arbitrary origin. */
  sharedClock(): Expression
  /** The state of the database as a transaction sees it, for its `History`; null: not known. */
  readonly stateSeen: Expression
  /** Ids for `count` new rows of a table, as the select of one column `id`. */
  newIds(table: string, count: number): Expression
  /** The ids that `newIds` found, one for each call; null: there is none left, the database gives one. */
  idsFrom(found: readonly number[]): () => number | null
  /**
   * A condition that is always true and lets a running statement be cancelled: for some of the row ids `id`, it checks whether the caller
   * still waits. Used wherever a statement iterates over rows.
   */
  stoppable(id: Expression): RawBuilder<boolean>
  /**
   * A query after which a transaction is exclusive until its end, so that its numbers follow the order of commits. Null: transactions are
   * serial anyway.
   */
  readonly commitOrder: Expression | null
  /** 1 where the stored text is valid JSON. */
  isJson(column: Expression): Expression
}
