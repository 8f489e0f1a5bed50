// Sources and targets of copied rows, and a checksum that does not depend on the database.
import { hash } from 'node:crypto'

/** A value in transit: timestamps as milliseconds, booleans as 0 and 1, JSON as text; numbers beyond a double as bigint or text. */
export type RowValue = string | number | bigint | Uint8Array | null

export type CopiedRow = readonly RowValue[]

/** Kind of a column's values; `other`: text in a database-specific form. */
export type ValueKind = 'text' | 'integer' | 'number' | 'boolean' | 'date' | 'time' | 'datetime' | 'json' | 'bytes' | 'other'

export interface RowColumn {
  readonly name: string
  readonly kind: ValueKind
  readonly type: string
}

/** A table, restricted to the copied columns. */
export interface RowTable {
  readonly name: string
  readonly columns: readonly RowColumn[]
  /** The primary key, which orders reads; empty: the table is read in one batch. */
  readonly key: readonly string[]
}

export interface RowReference {
  readonly table: string
  readonly column: string
  readonly to: { readonly table: string; readonly column: string }
  /** True if the row is deleted with its target; otherwise the reference is set to null. */
  readonly cascades: boolean
}

/** A database to read from, in a single snapshot. */
export interface RowSource {
  /** The file name, or the URL without a password. */
  readonly name: string
  tables(): Promise<readonly RowTable[]>
  count(table: RowTable): Promise<number>
  /** Reads up to `limit` rows after the key `after`. */
  read(table: RowTable, after: CopiedRow | null, limit: number): Promise<readonly CopiedRow[]>
  /** Reads the rows whose `column` has one of the values (a few hundred at most), ordered by key. */
  readWhere(table: RowTable, column: string, values: readonly RowValue[]): Promise<readonly CopiedRow[]>
  /** Keys of the rows whose reference is dangling. */
  missingTargets(table: RowTable, reference: RowReference): Promise<readonly CopiedRow[]>
  /** The last id assigned in each table. */
  lastNumbers(): Promise<ReadonlyMap<string, number>>
  close(): Promise<void>
}

/** A snapshot of a single-file database. */
export interface FileSnapshot {
  readonly rows: RowSource
  /** Copies the snapshot into a new file while others write. `report` receives the copied and total pages. */
  copyTo(file: string, report: (done: number, total: number) => void): Promise<void>
}

/** A value that fits a column, and the problem if it differs from the original. */
export interface CoercedValue {
  readonly value: RowValue
  /** For example `has 3 decimals, of which 2 are kept`. */
  readonly problem?: string
}

/** Progress of one part of a copy: the key of its last row. */
export interface CopyProgress {
  readonly part: string
  readonly source: string
  readonly last: CopiedRow
}

/** Transaction mode of a copy: one per batch, or the caller's, which cannot be resumed. */
export type CopyTransactions = 'batches' | 'callers'

export interface RowTarget extends Omit<RowSource, 'missingTargets' | 'lastNumbers' | 'readWhere'> {
  /** Foreign keys between its tables. */
  references(): Promise<readonly RowReference[]>
  /** Returns a function that coerces values to the column. */
  coercion(column: RowColumn): (value: RowValue) => CoercedValue
  /** Progress of an interrupted copy; null: there is none. */
  progress(): Promise<readonly CopyProgress[] | null>
  /** Deletes all rows of these tables, and the progress. */
  clear(tables: readonly RowTable[]): Promise<void>
  /** Inserts rows and records the progress in one transaction. */
  insert(table: RowTable, rows: readonly CopiedRow[], progress: CopyProgress): Promise<void>
  /** Updates rows, found by key, and records the progress in one transaction. */
  update(table: RowTable, rows: readonly CopiedRow[], progress: CopyProgress): Promise<void>
  /** Finishes the copy: advances id sequences beyond `last` and deletes the progress. */
  finish(last: ReadonlyMap<string, number>): Promise<void>
}

/** Allowed values by column; all columns must match. */
export type RowCondition = Readonly<Record<string, readonly RowValue[]>>

/** A database whose rows are replaced in one transaction. Until `commit`, others see the old rows and cannot write to its tables. */
export interface RowReplacement extends Omit<RowSource, 'missingTargets'>, Pick<RowTarget, 'coercion'> {
  /** @throws ConfigError if the tables cannot be locked in time */
  begin(tables: readonly RowTable[]): Promise<void>
  /** Deletes the matching rows and returns their number. */
  remove(table: RowTable, where: RowCondition): Promise<number>
  insert(table: RowTable, rows: readonly CopiedRow[]): Promise<void>
  update(table: RowTable, rows: readonly CopiedRow[]): Promise<void>
  /** Commits, advancing id sequences beyond every id ever used in `tables`. */
  commit(): Promise<void>
  rollback(): Promise<void>
}

function withoutLastZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return digits.slice(0, end)
}

export const isDecimal = (text: string): boolean => /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text.trim())

const significantDigits = (text: string): string =>
  withoutLastZeros(
    text
      .replace(/[eE].*/s, '')
      .replace(/\D/g, '')
      .replace(/^0+/, ''),
  )

/** The double with exactly the digits of a decimal; null if there is none or the text is not a number. */
export function exactNumber(text: string): number | null {
  const number = Number(text)
  return isDecimal(text) && significantDigits(text) === significantDigits(String(number)) ? number : null
}

/** JSON with sorted keys and no whitespace, so that equal values have equal texts. */
function canonicalJson(text: string): string {
  const sorted = (_: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value
  try {
    return JSON.stringify(JSON.parse(text), sorted)
  } catch {
    return `invalid: ${text}`
  }
}

/** A time of day with at least three fractional digits. */
export const fullTime = (text: string): string => {
  const [, whole, seconds = ':00', fraction = ''] = /^(\d\d:\d\d)(:\d\d)?(?:\.(\d+))?$/.exec(text) ?? []
  return whole === undefined ? text : `${whole}${seconds}.${withoutLastZeros(fraction).padEnd(3, '0')}`
}

/** A database-independent text for a value. */
function canonical(kind: ValueKind, value: RowValue): string | null {
  if (value === null) return null
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (kind === 'json') return canonicalJson(String(value))
  if (typeof value !== 'string') return String(value)
  return kind === 'time' ? fullTime(value) : value
}

const hashBytes = 8

/** An order-independent checksum: the sum of row hashes. */
interface Checksum {
  add(row: CopiedRow): void
  /** The row count and the sum of hashes. */
  readonly result: string
}

export function createChecksum(columns: readonly RowColumn[]): Checksum {
  let rows = 0
  let sum = 0n
  return {
    add: (row) => {
      const text = JSON.stringify(columns.map(({ kind }, index) => canonical(kind, row[index]!)))
      sum = BigInt.asUintN(hashBytes * 8, sum + hash('sha256', text, 'buffer').readBigUInt64LE())
      rows++
    },
    get result() {
      return `${rows} rows, ${sum.toString(16)}`
    },
  }
}
