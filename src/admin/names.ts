// Names of administrators, as everybody in the administration sees them.
import { sql } from 'kysely'
import * as z from 'zod'
import type { RowReader } from '../database/database.js'

/** An administrator in a response; without names if the row was deleted. */
export const administratorName = z.strictObject({ id: z.int(), firstname: z.string().nullable(), lastname: z.string().nullable() })

export type AdministratorName = z.output<typeof administratorName>

/** Reads the names of administrators. */
export async function readNames(database: RowReader, ids: readonly number[]): Promise<(id: number) => AdministratorName> {
  const wanted = [...new Set(ids)]
  const rows =
    wanted.length === 0
      ? []
      : await database.rows<AdministratorName>(sql`select id, firstname, lastname from admin_users where id in (${sql.join(wanted)})`)
  const known = new Map(rows.map(({ id, firstname, lastname }) => [Number(id), { id: Number(id), firstname, lastname }]))
  return (id) => known.get(id) ?? { id, firstname: null, lastname: null }
}
