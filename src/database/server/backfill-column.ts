// Fills a column from another column after a model change, converting its values.
import { type Conversion, convertValue, isSame } from '../../model/diff/conversions.js'
import type { Column, ColumnType } from '../../model/tables/table.js'
import type { RowColumn, RowValue } from '../transfer/rows.js'
import type { Coercion } from './coerce-values.js'

/** A column to be filled from another column of its table. */
export interface Backfill {
  readonly table: string
  readonly from: string
  readonly to: string
  readonly conversion: Conversion
  /** The column with the original values of `from`, if `from` is itself the result of a conversion. */
  readonly restores?: { readonly from: string; readonly conversion: Conversion } | undefined
}

/** Converts a value to the input of conversion rules. JSON is serialized as in API responses, regardless of the server's format. */
function toConvertible({ kind }: RowColumn, value: RowValue): string | number {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (kind !== 'json') return typeof value === 'number' ? value : String(value)
  try {
    return JSON.stringify(JSON.parse(String(value)))
  } catch {
    return String(value)
  }
}

/** Rounding to the column's decimals is fine: writes through the API do it, too. */
const isRounded = ({ kind }: RowColumn, value: RowValue, given: RowValue): boolean =>
  kind === 'number' && value !== null && Math.abs(Number(value) - Number(given)) < 1

interface BackfillColumns {
  readonly from: RowColumn
  readonly to: RowColumn
  /** The values of `from` before an earlier conversion. */
  readonly former: RowColumn | null
}

/** Converts a value for a column; null if the column cannot hold the result. */
function convert(conversion: Conversion, from: RowColumn, value: RowValue, to: RowColumn, fit: Coercion): RowValue {
  const given = value === null ? null : convertValue(conversion, toConvertible(from, value))
  if (given === null) return null
  const fitted = fit(given)
  return fitted.problem === undefined || isRounded(to, fitted.value, given) ? fitted.value : null
}

/** Returns a row conversion that restores unchanged results of an earlier conversion from their original. */
function rowConverter(
  { conversion, restores }: Backfill,
  { from, to, former }: BackfillColumns,
  coercionTo: (column: RowColumn) => Coercion,
) {
  const fitTo = coercionTo(to)
  const fitFrom = coercionTo(from)
  return (value: RowValue, before: RowValue): RowValue => {
    if (restores !== undefined && former !== null && before !== null && value !== null) {
      const result = convert(restores.conversion, former, before, from, fitFrom)
      if (result !== null && isSame(toConvertible(from, result), toConvertible(from, value))) return before
    }
    return convert(conversion, from, value, to, fitTo)
  }
}

const batch = 1_000

/** Access to a server's rows: the columns of a table, rows after an id, and updates by id. */
interface BackfillRows {
  columns(table: string): Promise<ReadonlyMap<string, RowColumn>>
  coercionTo(column: RowColumn): Coercion
  read(columns: readonly RowColumn[], after: RowValue, limit: number): Promise<readonly (readonly RowValue[])[]>
  write(columns: readonly [id: RowColumn, column: RowColumn], rows: readonly (readonly [RowValue, RowValue])[]): Promise<void>
}

/** Fills a column in batches of rows, ordered by id. */
export async function backfillColumn({ columns, coercionTo, read, write }: BackfillRows, filling: Backfill): Promise<void> {
  const found = await columns(filling.table)
  const [id, from, to] = [found.get('id')!, found.get(filling.from)!, found.get(filling.to)!]
  const former = filling.restores === undefined ? null : (found.get(filling.restores.from) ?? null)
  const convert = rowConverter(filling, { from, to, former }, coercionTo)
  let last: RowValue = null
  for (;;) {
    const rows = await read([id, from, ...(former === null ? [] : [former])], last, batch)
    if (rows.length === 0) return
    const filled = rows.map(([own, value, before = null]) => [own!, convert(value!, before)] as const).filter(([, value]) => value !== null)
    if (filled.length > 0) await write([id, to], filled)
    last = rows.at(-1)![0]!
  }
}

/** Types that can hold every value of another type. */
const wider: Partial<Record<ColumnType, readonly ColumnType[]>> = {
  integer: ['bigint', 'float'],
  real: ['float'],
  place: ['float'],
  moment: ['datetime'],
}

const getLength = (type: ColumnType): number => Number(/^varchar\((\d+)\)$/.exec(type)?.[1] ?? Number.NaN)

/** Whether `to` can hold every value of `from`; otherwise values are converted one by one. */
export function isWiderType(from: Column, to: Column): boolean {
  if (from.type === to.type || wider[from.type]?.includes(to.type) === true) return true
  const length = getLength(from.type)
  return !Number.isNaN(length) && (to.type === 'text' || getLength(to.type) >= length)
}
