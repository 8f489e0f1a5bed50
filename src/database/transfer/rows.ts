// Sources and targets of copied rows, and a checksum that is the same for equal rows in every database.
import { hash } from 'node:crypto'

/** A value on its way: moments as milliseconds, booleans as 0 and 1, JSON as text; what a number cannot hold is a bigint or a text. */
export type RowValue = string | number | bigint | Uint8Array | null

/** A row, in the order of its table's columns. */
export type CopiedRow = readonly RowValue[]

/** The kind of a column's values; `other`: texts in a database-specific form. */
export type ValueKind = 'text' | 'integer' | 'number' | 'boolean' | 'date' | 'time' | 'datetime' | 'json' | 'bytes' | 'other'

/** A column, with its type as declared. */
export interface RowColumn {
  readonly name: string
  readonly kind: ValueKind
  readonly type: string
}

/** A table, or those of its columns that are copied. */
export interface RowTable {
  readonly name: string
  readonly columns: readonly RowColumn[]
  /** The primary key, which orders reads; empty: all rows are read at once. */
  readonly key: readonly string[]
}

/** A column whose values are those of another table's column, or null. */
export interface RowReference {
  readonly table: string
  readonly column: string
  readonly to: { readonly table: string; readonly column: string }
  /** Whether the row is deleted with its target; otherwise its reference becomes null. */
  readonly cascades: boolean
}

/** A database that is read. All reads belong to one snapshot. */
export interface RowSource {
  /** The file, or the address without a password. */
  readonly name: string
  tables(): Promise<readonly RowTable[]>
  count(table: RowTable): Promise<number>
  /** At most `limit` rows after the key `after`. */
  read(table: RowTable, after: CopiedRow | null, limit: number): Promise<readonly CopiedRow[]>
  /** The rows whose `column` has one of the values, some hundred at most, in the order of their keys. */
  readWhere(table: RowTable, column: string, values: readonly RowValue[]): Promise<readonly CopiedRow[]>
  /** The keys of the rows whose target is missing. */
  missingTargets(table: RowTable, reference: RowReference): Promise<readonly CopiedRow[]>
  /** The last numbers that were given to rows, by table. */
  lastNumbers(): Promise<ReadonlyMap<string, number>>
  close(): Promise<void>
}

/** A snapshot of a database that is one file. */
export interface FileSnapshot {
  readonly rows: RowSource
  /** Copies the snapshot into a new file, while others write to the database. `report`: pages that are copied, and all of them. */
  copyTo(file: string, report: (done: number, total: number) => void): Promise<void>
}

/** A value that a column can hold, and the reason if it differs from the original. */
export interface CoercedValue {
  readonly value: RowValue
  /** Such as `has 3 decimals, of which 2 are kept`. */
  readonly problem?: string
}

/** Progress of one part of a copy: the key of the last row. */
export interface CopyProgress {
  readonly part: string
  readonly source: string
  readonly last: CopiedRow
}

/** Transactions of a copy: one for each batch, or the caller's, which cannot be resumed. */
export type CopyTransactions = 'batches' | 'callers'

/** A database that is written. */
export interface RowTarget extends Omit<RowSource, 'missingTargets' | 'lastNumbers' | 'readWhere'> {
  /** References between its tables that it checks. */
  references(): Promise<readonly RowReference[]>
  /** Returns the coercion to a column. */
  coercion(column: RowColumn): (value: RowValue) => CoercedValue
  /** The progress of a copy that was interrupted; null: there was none. */
  progress(): Promise<readonly CopyProgress[] | null>
  /** Removes all rows of these tables, and the progress. */
  clear(tables: readonly RowTable[]): Promise<void>
  /** Inserts rows, and notes the progress in the same transaction. */
  insert(table: RowTable, rows: readonly CopiedRow[], progress: CopyProgress): Promise<void>
  /** Gives rows, found by their keys, the values of their other columns; the progress as before. */
  update(table: RowTable, rows: readonly CopiedRow[], progress: CopyProgress): Promise<void>
  /** Ends the copy: new rows get numbers greater than `last`, and the progress is removed. */
  finish(last: ReadonlyMap<string, number>): Promise<void>
}

/** Rows by the values of columns: those that have one of the values in each of the columns. */
export type RowCondition = Readonly<Record<string, readonly RowValue[]>>

/**
 * A database whose rows are replaced in one transaction, from `begin` to `commit`. Others see the old rows until then, and cannot write to
 * the tables of the transaction.
 */
export interface RowReplacement extends Omit<RowSource, 'missingTargets'>, Pick<RowTarget, 'coercion'> {
  /** @throws ConfigError if others write to the tables for too long */
  begin(tables: readonly RowTable[]): Promise<void>
  /** Removes the rows that a condition selects. Returns how many. */
  remove(table: RowTable, where: RowCondition): Promise<number>
  /** Inserts rows with their ids. */
  insert(table: RowTable, rows: readonly CopiedRow[]): Promise<void>
  /** Gives rows, found by their keys, the values of their other columns. */
  update(table: RowTable, rows: readonly CopiedRow[]): Promise<void>
  /** Commits. New rows get numbers greater than all that were ever used in `tables`. */
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

/** The double with exactly the digits of a decimal number; null: there is none, or the text is not a number. */
export function exactNumber(text: string): number | null {
  const number = Number(text)
  return isDecimal(text) && significantDigits(text) === significantDigits(String(number)) ? number : null
}

/** A JSON text with its keys in order and without space, so that equal values have equal texts. */
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

/** A value as a text that is the same in every database. */
function canonical(kind: ValueKind, value: RowValue): string | null {
  if (value === null) return null
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  if (kind === 'json') return canonicalJson(String(value))
  if (typeof value !== 'string') return String(value)
  return kind === 'time' ? fullTime(value) : value
}

const hashBytes = 8

/** Adds up hashes of rows, in any order. */
export interface Checksum {
  add(row: CopiedRow): void
  /** The number of rows and the sum of their hashes. */
  readonly result: string
}

/** A checksum of rows with these columns. */
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
