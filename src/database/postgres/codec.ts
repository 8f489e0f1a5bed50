// The stored forms of PostgreSQL's column types, and those that the rest of the service knows: milliseconds since 1970, 0 and 1, JSON
// as text, decimals as numbers. A value is written by the type of the parameter that it is bound to, and read by that of its column.
import { decimalOf } from '../rows.js'
import type { Stored } from '../stored.js'

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

const two = (number: number): string => String(number).padStart(2, '0')

/**
 * A moment as the wall clock of this process has it: Strapi's driver stores that, without a zone. Years before the first are named as
 * PostgreSQL names them.
 */
function wallClock(milliseconds: number): string {
  const moment = new Date(milliseconds)
  const year = moment.getFullYear()
  const named = String(year > 0 ? year : 1 - year).padStart(4, '0')
  const day = `${named}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`
  const time = `${two(moment.getHours())}:${two(moment.getMinutes())}:${two(moment.getSeconds())}.${String(moment.getMilliseconds()).padStart(3, '0')}`
  return `${day} ${time}${year > 0 ? '' : ' BC'}`
}

const wallClockText = /^(\d+)-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?( BC)?$/

/** The moment that a wall clock shows in the zone of this process; what is finer than milliseconds is cut off. Null: `infinity`. */
function fromWallClock(text: string): number | null {
  const parts = wallClockText.exec(text)
  if (parts === null) return null
  const [, year, month, day, hour, minute, second, fraction = '', isBefore] = parts
  const moment = new Date(2000, 0, 1)
  moment.setFullYear(isBefore === undefined ? Number(year) : 1 - Number(year), Number(month) - 1, Number(day))
  return moment.setHours(Number(hour), Number(minute), Number(second), Number(fraction.padEnd(3, '0').slice(0, 3)))
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
      // A text that is no number is behind all numbers, as in SQLite.
      return typeof value === 'string' && decimalOf(value) === null ? 'Infinity' : String(value).trim()
    case oid.bytea:
      return `\\x${Buffer.from(value as Uint8Array).toString('hex')}`
    default:
      return String(value)
  }
}

const parsers: Readonly<Record<number, (text: string) => Stored | Uint8Array>> = {
  [oid.bytea]: (text) => Buffer.from(text.slice(2), 'hex'),
  [oid.boolean]: (text) => (text === 't' ? 1 : 0),
  // What a number cannot hold stays text, exact.
  [oid.int8]: (text) => (Number.isSafeInteger(Number(text)) ? Number(text) : text),
  [oid.int2]: Number,
  [oid.int4]: Number,
  [oid.float4]: Number,
  [oid.float8]: Number,
  [oid.numeric]: Number,
  [oid.timestamp]: fromWallClock,
}

const asText = (text: string): Stored => text

/** How values of a column of this type are read. */
export const parserOf = (type: number): ((text: string) => Stored | Uint8Array) => parsers[type] ?? asText
