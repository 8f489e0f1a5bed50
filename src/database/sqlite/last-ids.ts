// The ids that rows were given last: whoever holds the write lock may give the next ones itself, without waiting for the inserts.
import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'

/** The last id of a table as an expression; also right for tables that give the ids of removed rows again. */
export const lastId = (table: string): RawBuilder<number> =>
  sql<number>`max(coalesce((select seq from sqlite_sequence where name = ${table}), 0), coalesce((select max(id) from ${sql.table(table)}), 0))`
