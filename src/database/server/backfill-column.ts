// Values of a column as another column has them that takes their place after a change of the content model.
import { type Conversion, convertValue, isSame } from '../../model/diff/conversions.js'
import type { Column, ColumnType } from '../../model/tables/table.js'
import type { RowColumn, RowValue } from '../transfer/rows.js'
import type { Fitter } from './coerce-values.js'

/** A column that is filled from another one of its table. */
export interface Filling {
  readonly table: string
  readonly from: string
  readonly to: string
  readonly conversion: Conversion
  /** An earlier conversion led to `from` from values that are kept in this column. */
  readonly restores?: { readonly from: string; readonly conversion: Conversion } | undefined
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

/** The columns of a filling, and how values are fitted into those that values go to. */
interface FillingColumns {
  readonly from: RowColumn
  readonly to: RowColumn
  /** What values of `from` were before an earlier conversion. */
  readonly former: RowColumn | null
}

/** A value in a column, by a rule. What the column cannot hold becomes null. */
function converted(conversion: Conversion, from: RowColumn, value: RowValue, to: RowColumn, fit: Fitter): RowValue {
  const given = value === null ? null : convertValue(conversion, plain(from, value))
  if (given === null) return null
  const fitted = fit(given)
  return fitted.problem === undefined || isRounded(to, fitted.value, given) ? fitted.value : null
}

/** How rows are converted: a value that an earlier conversion has led to becomes again what it was. */
function rowConverter({ conversion, restores }: Filling, { from, to, former }: FillingColumns, fitterFor: (column: RowColumn) => Fitter) {
  const [fitTo, fitFrom] = [fitterFor(to), fitterFor(from)]
  return (value: RowValue, before: RowValue): RowValue => {
    if (restores !== undefined && former !== null && before !== null && value !== null) {
      const result = converted(restores.conversion, former, before, from, fitFrom)
      if (result !== null && isSame(plain(from, result), plain(from, value))) return before
    }
    return converted(conversion, from, value, to, fitTo)
  }
}

/** Rows of a batch. */
const batch = 1_000

/** What fills columns on a server: the columns of its tables, rows of some of them behind an id, and what gives rows a value by their ids. */
export interface FillingRows {
  columns(table: string): Promise<ReadonlyMap<string, RowColumn>>
  fitterFor(column: RowColumn): Fitter
  read(columns: readonly RowColumn[], after: RowValue, limit: number): Promise<readonly (readonly RowValue[])[]>
  write(columns: readonly [id: RowColumn, column: RowColumn], rows: readonly (readonly [RowValue, RowValue])[]): Promise<void>
}

/** Fills a column in batches of rows by id. */
export async function fillColumn({ columns, fitterFor, read, write }: FillingRows, filling: Filling): Promise<void> {
  const found = await columns(filling.table)
  const [id, from, to] = [found.get('id')!, found.get(filling.from)!, found.get(filling.to)!]
  const former = filling.restores === undefined ? null : (found.get(filling.restores.from) ?? null)
  const convert = rowConverter(filling, { from, to, former }, fitterFor)
  let last: RowValue = null
  for (;;) {
    const rows = await read([id, from, ...(former === null ? [] : [former])], last, batch)
    if (rows.length === 0) return
    const filled = rows.map(([own, value, before = null]) => [own!, convert(value!, before)] as const).filter(([, value]) => value !== null)
    if (filled.length > 0) await write([id, to], filled)
    last = rows.at(-1)![0]!
  }
}

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
