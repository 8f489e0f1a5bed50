// The stored forms of PostgreSQL's column types, and those that the rest of the service knows: milliseconds since 1970, 0 and 1, JSON
// as text, decimals as numbers. A value is written by the type of the parameter that it is bound to, and read by that of its column.
import type { Stored } from '../../portable-sql.js'
import { isDecimal } from '../../transfer/rows.js'
import { fromWallClock, toWallClock } from '../time-zone.js'

const oid = {
  boolean: 16,
  bytea: 17,
  int8: 20,
  int2: 21,
  int4: 23,
  json: 114,
  float4: 700,
  float8: 701,
  timestamp: 1114,
  timestamptz: 1184,
  numeric: 1700,
  jsonb: 3802,
} as const

/** A moment as the wall clock of this process has it. Years before the first are named as PostgreSQL names them. */
function wallClock(milliseconds: number): string {
  const { year, rest } = toWallClock(milliseconds)
  return `${String(year > 0 ? year : 1 - year).padStart(4, '0')}-${rest}${year > 0 ? '' : ' BC'}`
}

/** A number of milliseconds that was counted as if the wall clock of a row showed UTC, as the moment that it means. */
export function fromWallMilliseconds(counted: number): number {
  const shown = new Date(counted)
  const moment = new Date(2000, 0, 1)
  moment.setFullYear(shown.getUTCFullYear(), shown.getUTCMonth(), shown.getUTCDate())
  return moment.setHours(shown.getUTCHours(), shown.getUTCMinutes(), shown.getUTCSeconds(), shown.getUTCMilliseconds())
}

const falses: readonly unknown[] = [0, false, '0', 'f', 'false', '']

/** A value as the text of a parameter of this type. */
export function encodeParameter(type: number | undefined, value: unknown): string | null {
  if (value === null || value === undefined) return null
  switch (type) {
    case oid.boolean:
      return falses.includes(value) ? 'f' : 't'
    case oid.timestamp:
      return typeof value === 'number' ? wallClock(value) : String(value)
    case oid.timestamptz:
      return typeof value === 'number' ? new Date(value).toISOString() : String(value)
    case oid.numeric:
      // A text that is not a number is greater than all numbers, as in SQLite.
      return typeof value === 'string' && !isDecimal(value) ? 'Infinity' : String(value).trim()
    case oid.bytea:
      return `\\x${Buffer.from(value as Uint8Array).toString('hex')}`
    default:
      return String(value)
  }
}

const parsers: Readonly<Record<number, (text: string) => Stored | Uint8Array>> = {
  [oid.bytea]: (text) => Buffer.from(text.slice(2), 'hex'),
  [oid.boolean]: (text) => (text === 't' ? 1 : 0),
  // Integers beyond the safe range stay text.
  [oid.int8]: (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : text),
  [oid.int2]: Number,
  [oid.int4]: Number,
  [oid.float4]: Number,
  [oid.float8]: Number,
  [oid.numeric]: Number,
  [oid.timestamp]: fromWallClock,
}

const asText = (text: string): Stored => text

export const getParser = (type: number): ((text: string) => Stored | Uint8Array) => parsers[type] ?? asText
