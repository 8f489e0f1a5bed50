// Which changes of a column's declaration keep every value as it is, on any server.
import type { Column, ColumnType } from '../../model/tables/table.js'

/** Types that hold every value of another one. */
const wider: Partial<Record<ColumnType, readonly ColumnType[]>> = {
  integer: ['bigint', 'float'],
  real: ['float'],
  place: ['float'],
  moment: ['datetime'],
}

const lengthOf = (type: ColumnType): number => Number(/^varchar\((\d+)\)$/.exec(type)?.[1] ?? Number.NaN)

/** Whether a column can be declared as the other one where it is; otherwise its values are converted one by one. */
export function holdsAll(from: Column, to: Column): boolean {
  if (from.type === to.type || wider[from.type]?.includes(to.type) === true) return true
  const length = lengthOf(from.type)
  return !Number.isNaN(length) && (to.type === 'text' || lengthOf(to.type) >= length)
}
