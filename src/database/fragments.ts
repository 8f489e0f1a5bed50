// Pieces of SQL that every database understands, or that a driver writes in its own words.
import { type RawBuilder, sql } from 'kysely'
import type { Stored } from './stored.js'

/** True where both values are equal, or both are null. */
export const same = (left: unknown, right: unknown): RawBuilder<boolean> => sql<boolean>`${left} is not distinct from ${right}`

/** True where the values are not equal, and not both null. */
export const differs = (left: unknown, right: unknown): RawBuilder<boolean> => sql<boolean>`${left} is distinct from ${right}`

/** The moment `now`, or that of the column where it is later. */
export const notBefore = (column: RawBuilder<unknown>, now: Stored): RawBuilder<unknown> =>
  sql`case when ${column} > ${now} then ${column} else ${now} end`

/** The texts of a group joined by commas, in this order. */
export const joined = (text: RawBuilder<unknown>, order: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`string_agg(cast(${text} as text), ',' order by ${order})`

const names = (columns: readonly string[]): RawBuilder<unknown> => sql.join(columns.map((column) => sql.id(column)))

/** Inserts the rows that `source` selects, but for those whose key is there already. */
export const insertMissing = (table: string, columns: readonly string[], source: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`insert into ${sql.table(table)} (${names(columns)}) ${source} on conflict do nothing`

/** Inserts a row, or changes the one that has the same `key`. `changes`: assignments, to the columns of the row that is there. */
export const upsert = (
  table: string,
  row: Readonly<Record<string, Stored>>,
  key: readonly string[],
  changes: RawBuilder<unknown>,
): RawBuilder<unknown> =>
  sql`insert into ${sql.table(table)} (${names(Object.keys(row))}) values (${sql.join(Object.values(row))})
    on conflict (${names(key)}) do update set ${changes}`
