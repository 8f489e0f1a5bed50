// Values of a column as another column has them that takes their place after a change of the content model.
import { type Conversion, convertValue } from '../../model-plans/conversions.js'
import type { RowColumn, RowValue } from '../rows.js'
import type { Fitter } from './fitting.js'

/** A column that is filled from another one of its table. */
export interface Filling {
  readonly table: string
  readonly from: string
  readonly to: string
  readonly conversion: Conversion
  /** An earlier conversion from the values of a column to those of `from`; where its result is still there, they come back. */
  readonly restores?: { readonly from: string; readonly conversion: Conversion }
}

/** A value of the new column, and whether it says all that the former one said. */
export interface ConvertedValue {
  readonly value: RowValue
  readonly isWhole: boolean
}

/** A value in the form in which rules take it. JSON is what the API answers, however the server writes it. */
function plain({ kind }: RowColumn, value: RowValue): string | number {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (kind !== 'json') return typeof value === 'number' ? value : String(value)
  try {
    return JSON.stringify(JSON.parse(String(value)))
  } catch {
    return String(value)
  }
}

/** Whether a number was only rounded to the decimals that its column has, as one that is written through the API. */
const isRounded = ({ kind }: RowColumn, value: RowValue, given: RowValue): boolean =>
  kind === 'number' && value !== null && Math.abs(Number(value) - Number(given)) < 1

/** How values are converted. What the new column cannot hold becomes null. */
export function valueConverter(
  { conversion }: Pick<Filling, 'conversion'>,
  from: RowColumn,
  to: RowColumn,
  fit: Fitter,
): (value: RowValue) => ConvertedValue {
  return (value) => {
    if (value === null) return { value: null, isWhole: true }
    const converted = convertValue(conversion, plain(from, value))
    if (converted === null) return { value: null, isWhole: false }
    const fitted = fit(converted)
    if (fitted.problem === undefined) return { value: fitted.value, isWhole: true }
    return { value: isRounded(to, fitted.value, converted) ? fitted.value : null, isWhole: false }
  }
}

/** Rows of a batch. */
const batch = 1_000

/** What fills columns on a server: rows of two columns behind an id, and their new values. */
export interface FillingRows {
  read(column: RowColumn, after: RowValue, limit: number): Promise<readonly (readonly RowValue[])[]>
  write(column: RowColumn, rows: readonly (readonly RowValue[])[]): Promise<void>
}

/** The values that an earlier conversion led from, and how it did that. */
export interface FormerValues {
  readonly column: RowColumn
  readonly convert: (value: RowValue) => ConvertedValue
}

/** Fills a column in batches of rows by id. Resolves to whether the new column says all that the former one said. */
export async function fillColumn(
  { read, write }: FillingRows,
  from: RowColumn,
  to: RowColumn,
  convert: (value: RowValue) => ConvertedValue,
  former: FormerValues | null = null,
): Promise<boolean> {
  let isWhole = true
  let last: RowValue = null
  for (;;) {
    const rows = await read(from, last, batch)
    if (rows.length === 0) return isWhole
    const kept = former === null ? [] : await read(former.column, last, batch)
    const converted = rows.map(([id, value], index) => {
      const [, before = null] = kept[index] ?? []
      const isResult = before !== null && String(former!.convert(before).value) === String(value)
      return { id: id!, ...(isResult ? { value: before, isWhole: true } : convert(value!)) }
    })
    isWhole &&= converted.every((each) => each.isWhole)
    const filled = converted.filter(({ value }) => value !== null)
    if (filled.length > 0)
      await write(
        to,
        filled.map(({ id, value }) => [id, value]),
      )
    last = rows.at(-1)![0]!
  }
}
