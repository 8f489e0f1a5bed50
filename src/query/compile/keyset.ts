// The rows of a page that is found by the row next to it: those behind it in the order of the list.
import { sql } from 'kysely'
import type { Expression } from '../../database/dialect.js'
import type { ScalarType } from '../../foundation/public/attribute-types.js'
import type { KeysetPosition } from '../request.js'
import { type Compilation, column, value } from './conditions.js'
import { operatorSql } from './operator-sql.js'
import type { PageQuery } from './pages.js'

/** The conditions that leave the rows behind `position`, in the direction in which `keys` go; `types`: those of their values. Rows without a value stand where the order has them. `backwards`: ids go down. */
export function behind(
  compilation: Compilation,
  keys: PageQuery['keys'],
  types: readonly ScalarType[],
  { values, id }: KeysetPosition,
  backwards: boolean,
): readonly Expression[] {
  const { dialect, contract } = compilation
  const nullsAreSmallest = contract.nullsFirst || !dialect.nullsAreGreatest
  const compared = (at: number, sign: '$gt' | '$lt' | '$gte' | '$lte' | '$eq', index: number): Expression =>
    operatorSql[sign]({ dialect, contract, column: keys[at]!.value, type: types[at]! }, [value(index)])
  const from = (at: number): Expression => {
    const key = keys[at]
    if (key === undefined) return sql`${column('t0', 'id')} ${backwards ? sql`<` : sql`>`} ${value(id)}`
    const index = values[at] ?? null
    const endsWithNulls = nullsAreSmallest === key.descending
    if (index === null) {
      const tied = sql`(${key.value} is null and ${from(at + 1)})`
      return endsWithNulls ? tied : sql`(${key.value} is not null or ${tied})`
    }
    const later = compared(at, key.descending ? '$lt' : '$gt', index)
    const tied = sql`(${compared(at, '$eq', index)} and ${from(at + 1)})`
    return endsWithNulls ? sql`(${later} or ${key.value} is null or ${tied})` : sql`(${later} or ${tied})`
  }
  const [first] = keys
  const index = values[0] ?? null
  // Beside the alternatives, a condition by which an index is entered at the right place.
  const isEntered = first !== undefined && index !== null && nullsAreSmallest !== first.descending
  const entry = isEntered ? [compared(0, first.descending ? '$lte' : '$gte', index)] : []
  return [...entry, from(0)]
}
