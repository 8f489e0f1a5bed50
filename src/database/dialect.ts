// The few places where databases differ, as functions that build SQL. Asking a dialect for its name elsewhere is an error.
import type { RawBuilder } from 'kysely'
import type { Statement } from './plan.js'

/** A piece of SQL: a column or a bound value. */
export type Expression = RawBuilder<unknown>

/** `like`: Strapi's matching on this database. `exact`: by character. `folded`: case folded beyond ASCII. */
export type Matching = 'like' | 'exact' | 'folded'

export interface Dialect {
  /** The text of a query with its placeholders; bound values must be `Parameter`s of a plan. */
  compile(query: Expression): Statement
  /** True where `column` contains, starts or ends with the text `value`; `%`, `_` and `\` in it mean themselves. */
  matches(column: Expression, value: Expression, kind: 'contains' | 'startsWith' | 'endsWith', matching: Matching): RawBuilder<boolean>
  equalsIgnoringCase(column: Expression, value: Expression, folding: 'ascii' | 'unicode'): RawBuilder<boolean>
  /** A table named `as` whose column `value` holds the numbers of a bound list: one parameter, whatever its length. */
  listed(list: Expression, as: string): Expression
  /** A bound number behind `limit` or `offset`. */
  rowCount(value: Expression): Expression
  /** Tables as a FROM clause that begins at the first of them and goes on in this order. */
  joinedInOrder(tables: readonly Expression[]): Expression
  /** The column, in a comparison that must not choose the index. */
  unindexed(column: Expression): Expression
  /** The exact digits of a 64-bit integer as text; other stored values as they are. */
  exactInteger(column: Expression): Expression
  /**
   * A condition that always holds, and by which a statement can be ended: now and then, while it looks at the rows whose ids are
   * `id`, it asks whether anybody still waits for it. It stands wherever a statement goes through rows.
   */
  stoppable(id: Expression): RawBuilder<boolean>
  /** 1 where the stored text is valid JSON. */
  isJson(column: Expression): Expression
}
