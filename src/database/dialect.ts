// Differences between databases, as functions that build SQL. Code elsewhere must not ask which database it uses.
import type { RawBuilder } from 'kysely'
import type { Answer } from '../model/types/attribute-type.js'
import type { Statement } from './plan.js'
import type { ListedDocuments, MomentFault, SelectedRows, Stored } from './portable-sql.js'

/** A SQL expression: a column, a bound value, … */
export type Expression = RawBuilder<unknown>

/** `like`, `ilike`: Strapi's matching, for operators without and with `i`. `exact`: by character. `folded`: Unicode case folding. */
type Matching = 'like' | 'ilike' | 'exact' | 'folded'

export type BoundType = 'integer' | 'real' | 'text'

export type ComparisonSign = '=' | '<>' | '<' | '<=' | '>' | '>='

export interface Dialect {
  /** Compiles a query to text with placeholders; bound values must be `Parameter`s of a plan. */
  compile(query: Expression): Statement
  /** True if `column` contains, starts or ends with `value`, in which `%`, `_` and `\` are literal. */
  matches(column: Expression, value: Expression, kind: 'contains' | 'startsWith' | 'endsWith', matching: Matching): RawBuilder<boolean>
  /**
   * Compares a column with a bound value; for numeric columns, a number in any notation. `isWhole`: the column has integers, the value may
   * be a fraction; values that are not numbers sort after all numbers.
   */
  compare(column: Expression, comparison: ComparisonSign, value: Expression, isWhole: boolean): RawBuilder<boolean>
  /** True if a column equals one of the bound values; at least one. `isWhole` as in `compare`. */
  isAnyOf(column: Expression, values: readonly Expression[], isWhole: boolean): RawBuilder<boolean>
  equalsIgnoringCase(column: Expression, value: Expression, folding: 'ascii' | 'unicode'): RawBuilder<boolean>
  /** A table `as` with a column `value`, from a list of numbers bound as one parameter. */
  numberTable(list: Expression, as: string): Expression
  /** A bound number for `limit` or `offset`. */
  rowCount(value: Expression): Expression
  /** True if `offset` fetches the skipped rows rather than index entries only. */
  readonly readsSkippedRows: boolean
  /** A FROM clause that joins the tables in this order. */
  joinedInOrder(tables: readonly Expression[]): Expression
  /** The column, hidden from the planner's choice of index. */
  unindexed(column: Expression): Expression
  /** The column as selected for this kind of `answer`: 64-bit integers as text, to preserve all digits. */
  selected(column: Expression, answer: Answer): Expression
  /** Bound ids of rows or documents for `in (…)`. */
  list(values: readonly (number | string)[]): Expression
  /** Bound rows as a table `as`, with their index in the column `ordinal`. */
  rows<Name extends string>(rows: readonly (readonly Stored[])[], columns: Readonly<Record<Name, BoundType>>, as: string): Expression
  /** A lateral table `as` that combines selects; `types` are its columns. */
  lateral(selects: readonly SelectedRows[], types: Readonly<Record<string, BoundType>>, as: string): Expression
  /** Concatenates the documents of several selects, ordered by position; they may reference outer columns. */
  documentList(selects: readonly ListedDocuments[]): Expression
  /** A key of `order by`. `nullsFirst`: nulls sort as the smallest values; otherwise as the database does by default. */
  orderKey(value: Expression, descending: boolean, nullsFirst: boolean): Expression
  /** True if nulls are the greatest values by default; otherwise they are the smallest. */
  readonly nullsAreGreatest: boolean
  /** A group's first value in the order of such a key. */
  firstValue(value: Expression, descending: boolean, nullsFirst: boolean): Expression
  /** True if two values of a `timestamp` attribute differ, as Strapi's publication reads them. */
  timestampsDiffer(one: Expression, other: Expression): Expression
  /** Explains, as the end of a sentence, why a timestamp column does not preserve its values; null: it does. Absent: all do. */
  readonly momentFault?: MomentFault
  /** True if text comparisons use the column's collation, which may ignore case, accents and trailing spaces. */
  readonly collates: boolean
  /** True if two values differ, null-safe; texts are compared by character, regardless of collation. */
  differs(one: Expression, other: Expression): RawBuilder<boolean>
  /** A position before `first`. */
  positionBefore(first: Expression): Expression
  /** The database's wall clock, in whole milliseconds since 1970. */
  readonly timeOfDay: Expression
  /** Milliseconds of a clock shared by all processes on this database, with an arbitrary origin. */
  sharedClock(): Expression
  /** The database state visible to a transaction, for its `History`; null: not available. */
  readonly stateSeen: Expression
  /** Selects `count` new row ids as the column `id`. */
  newIds(table: string, count: number): Expression
  /** Returns the next of these ids per call; null: none left, the database assigns one. */
  idsFrom(found: readonly number[]): () => number | null
  /**
   * An always-true condition that makes a statement cancellable: for some row ids `id` it checks whether the client is still waiting. Used
   * wherever a statement iterates over rows.
   */
  stoppable(id: Expression): RawBuilder<boolean>
  /** A query that makes the rest of a transaction exclusive, so that its numbers follow commit order. Null: transactions are serialized. */
  readonly commitOrder: Expression | null
  /** 1 if the stored text is valid JSON. */
  isJson(column: Expression): Expression
}
