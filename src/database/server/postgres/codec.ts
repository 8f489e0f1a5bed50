// Converts between PostgreSQL's column types and the service's values: timestamps as milliseconds since 1970, booleans as 0 and 1, JSON as
// text, decimals as numbers. Values are encoded by parameter type and decoded by column type.
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

/** A timestamp in local time, with PostgreSQL's notation for years before 1. */
function wallClock(milliseconds: number): string {
  const { year, rest } = toWallClock(milliseconds)
  return `${String(year > 0 ? year : 1 - year).padStart(4, '0')}-${rest}${year > 0 ? '' : ' BC'}`
}

/** Converts milliseconds that were computed from a local time as if it were UTC. */
export function fromWallMilliseconds(counted: number): number {
  const shown = new Date(counted)
  const date = new Date(2000, 0, 1)
  date.setFullYear(shown.getUTCFullYear(), shown.getUTCMonth(), shown.getUTCDate())
  return date.setHours(shown.getUTCHours(), shown.getUTCMinutes(), shown.getUTCSeconds(), shown.getUTCMilliseconds())
}

const falses: readonly unknown[] = [0, false, '0', 'f', 'false', '']

/** Encodes a value as the text of a parameter of this type. */
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
      // Text that is not a number compares greater than all numbers, as in SQLite.
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
