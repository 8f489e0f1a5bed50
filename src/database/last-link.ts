// A link that is added behind the others, in whatever columns its table has for places.
import { type RawBuilder, sql } from 'kysely'
import type { LinkStorage } from '../model/schema/types.js'

/** Links a row to a target, behind the target's other links and behind the row's own; a relation without an order has no such column. */
export function linkLast({ table, here, there, order, inverseOrder }: LinkStorage, row: number, target: number): RawBuilder<unknown> {
  const next = (column: string | null, among: string, id: number) =>
    column === null
      ? []
      : [{ column, value: sql`(select coalesce(max(${sql.id(column)}), 0) + 1 from ${sql.table(table)} where ${sql.id(among)} = ${id})` }]
  const values = [
    { column: here, value: sql`${row}` },
    { column: there, value: sql`${target}` },
    ...next(order, here, row),
    ...next(inverseOrder, there, target),
  ]
  return sql`insert into ${sql.table(table)} (${sql.join(values.map(({ column }) => sql.id(column)))})
    select ${sql.join(values.map(({ value }) => value))}`
}
