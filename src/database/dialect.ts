// The few places where databases differ, as functions that build SQL. Asking a dialect for its name elsewhere is an error.
import type { RawBuilder } from 'kysely'
import type { Answer } from '../model/schema/attributes.js'
import type { Statement } from './plan.js'
import type { Found, Listed, MomentFault, Stored } from './portable-sql.js'

/** A piece of SQL: a column or a bound value. */
export type Expression = RawBuilder<unknown>

/**
 * `like`, `ilike`: Strapi's matching on this database, of the operators without and with `i`. `exact`: by character. `folded`: case
 * folded beyond ASCII.
 */
export type Matching = 'like' | 'ilike' | 'exact' | 'folded'

/** The types of the columns of bound rows. */
export type BoundType = 'integer' | 'real' | 'text'

/** How a column is compared with a bound value. */
export type ComparisonSign = '=' | '<>' | '<' | '<=' | '>' | '>='

export interface Dialect {
  /** The text of a query with its placeholders; bound values must be `Parameter`s of a plan. */
  compile(query: Expression): Statement
  /** True where `column` contains, starts or ends with the text `value`; `%`, `_` and `\` in it mean themselves. */
  matches(column: Expression, value: Expression, kind: 'contains' | 'startsWith' | 'endsWith', matching: Matching): RawBuilder<boolean>
  /**
   * Compares a column with a bound value, a number in any notation for a column of numbers. `isWhole`: the column has integers, which
   * the value need not be; what is no number is greater than all.
   */
  compared(column: Expression, comparison: ComparisonSign, value: Expression, isWhole: boolean): RawBuilder<boolean>
  /** True where a column has one of some bound values; at least one. `isWhole` as in `compared`. */
  isAnyOf(column: Expression, values: readonly Expression[], isWhole: boolean): RawBuilder<boolean>
  equalsIgnoringCase(column: Expression, value: Expression, folding: 'ascii' | 'unicode'): RawBuilder<boolean>
  /** A table named `as` whose column `value` holds the numbers of a bound list: one parameter, whatever its length. */
  listed(list: Expression, as: string): Expression
  /** A bound number behind `limit` or `offset`. */
  rowCount(value: Expression): Expression
  /** Whether the columns of rows are read that `offset` skips, and not only the index that they are found by. */
  readonly readsSkippedRows: boolean
  /** Tables as a FROM clause that begins at the first of them and goes on in this order. */
  joinedInOrder(tables: readonly Expression[]): Expression
  /** The column, in a comparison that must not choose the index. */
  unindexed(column: Expression): Expression
  /** The column as a result column from which its value is written as `answer`: 64-bit integers as text, with all their digits. */
  selected(column: Expression, answer: Answer): Expression
  /** Bound values, for the parentheses behind `in`: ids of rows, or of documents. */
  list(values: readonly (number | string)[]): Expression
  /** Bound rows as a table named `as`, with their position from 0 as its column `ordinal`. */
  rows<Name extends string>(rows: readonly (readonly Stored[])[], columns: Readonly<Record<Name, BoundType>>, as: string): Expression
  /** A table named `as` of the rows of some selects, which may depend on the row around it; with the types of its columns. */
  around(selects: readonly Found[], types: Readonly<Record<string, BoundType>>, as: string): Expression
  /** The documents of some selects as one text, in the order of their places; they may depend on the row around them. */
  listOf(selects: readonly Listed[]): Expression
  /** A key of `order by`. `nullsFirst`: nulls are the smallest values; otherwise they are where the database has them. */
  sorted(value: Expression, descending: boolean, nullsFirst: boolean): Expression
  /** Where a key does not say where its nulls are: whether they are greater than all values, or smaller. */
  readonly nullsAreGreatest: boolean
  /** The first of a group's values in the order of such a key. */
  first(value: Expression, descending: boolean, nullsFirst: boolean): Expression
  /** True where two values of a `timestamp` attribute differ, as Strapi's publication reads them. */
  timestampsDiffer(one: Expression, other: Expression): Expression
  /** Why a column of moments does not give one back as it was written, as the end of a sentence; null: it does. Absent: each does. */
  readonly momentFault?: MomentFault
  /** Whether a comparison of a column with a text follows the column's collation, which may ignore case, accents and spaces at the end. */
  readonly collates: boolean
  /** True where two values of one type are not the same, or one is null; texts by character, whatever else compares them otherwise. */
  differs(one: Expression, other: Expression): RawBuilder<boolean>
  /** A place before the first of those that are taken. */
  placeBefore(first: Expression): Expression
  /** The time of day by the database's own clock, in whole milliseconds since 1970. */
  readonly timeOfDay: Expression
  /** Whole milliseconds by a clock that all processes on this database share, whichever machine they run on; since any moment. */
  sharedClock(): Expression
  /** The state of the database as a transaction sees it, for its `History`; null: not known. */
  readonly stateSeen: Expression
  /** Ids for `count` new rows of a table, as the select of one column `id`. */
  newIds(table: string, count: number): Expression
  /** The ids that `newIds` found, one for each call; null: there is none left, the database gives one. */
  idsFrom(found: readonly number[]): () => number | null
  /**
   * A condition that always holds, and by which a statement can be ended: now and then, while it looks at the rows whose ids are
   * `id`, it asks whether anybody still waits for it. It stands wherever a statement goes through rows.
   */
  stoppable(id: Expression): RawBuilder<boolean>
  /**
   * A query behind which a transaction is alone until its end: what it numbers from then on is numbered in the order of commits. Null:
   * transactions follow one another anyway.
   */
  readonly commitOrder: Expression | null
  /** 1 where the stored text is valid JSON. */
  isJson(column: Expression): Expression
}
