// `in (…)` over any number of values: a few are bound one by one, many as one text, for which no statement is too long.
import { type RawBuilder, sql } from 'kysely'

/** So many values are bound one by one. */
const few = 500

/** What stands in the parentheses behind `in`: ids of rows, or of documents. */
export const inList = (values: readonly (number | string)[]): RawBuilder<unknown> =>
  values.length <= few ? sql.join(values) : sql`select value from json_each(${JSON.stringify(values)})`
