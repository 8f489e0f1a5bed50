// Counts the values of a column that lose something when they are converted, one by one: no query can tell.
import { sql } from 'kysely'
import type { MainConnection } from '../../database/database.js'
import type { ScalarType } from '../../foundation/public/attribute-types.js'
import { type Conversion, convertValue, isSame, losesOf } from '../../model/diff/conversions.js'
import type { ConvertedValues } from '../../model/diff/types.js'

/** Rows that are read at once. */
const batch = 1_000

type Value = string | number | bigint | object | null

interface Row {
  readonly id: number
  readonly value: Value
  readonly former: Value
}

/** A value as conversions take it. */
function plain(value: Value): string | number | null {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : value
}

/** A time of day with the fraction that the API shows; databases leave out zeros. */
const timed = (value: string | number | null): string | number | null =>
  typeof value === 'string' && /^\d\d:\d\d:\d\d(?:\.\d+)?$/.test(value)
    ? `${value.slice(0, 8)}.${value.slice(9).padEnd(3, '0').slice(0, 3)}`
    : value

/** A column; no number holds every `biginteger`. */
const selected = (column: string, type: ScalarType) => (type === 'biginteger' ? sql`cast(${sql.id(column)} as text)` : sql.id(column))

/** `restores`: an earlier conversion led to these values from those of another column; where its result is still there, the value comes back. */
export async function countLostValues(
  database: MainConnection,
  { table, column, conversion }: ConvertedValues,
  restores: { readonly from: string; readonly conversion: Conversion } | undefined,
): Promise<number> {
  const value = selected(column, conversion.from)
  const former = restores === undefined ? sql`null` : selected(restores.from, restores.conversion.from)
  let [lost, last] = [0, 0]
  for (;;) {
    const rows = await database.rows<Row>(
      sql`select id, ${value} as value, ${former} as former from ${sql.table(table)}
          where id > ${last} and ${sql.id(column)} is not null order by id limit ${sql.lit(batch)}`,
    )
    for (const row of rows) {
      const [value, before] = [plain(row.value)!, timed(plain(row.former))]
      const comesBack = restores !== undefined && before !== null && isSame(timed(convertValue(restores.conversion, before)), timed(value))
      if (!comesBack && losesOf(conversion, value)) lost++
    }
    if (rows.length < batch) return lost
    last = Number(rows.at(-1)!.id)
  }
}
