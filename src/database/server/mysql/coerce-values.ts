// Coerces values of another database to MySQL's and MariaDB's column types.
import { isDecimal } from '../../transfer/rows.js'
import { type Coercion, coerceDecimal, coerceFloat, coerceInteger, coercionFor, isDay, timeOfDay } from '../coerce-values.js'
import { fromWallClock } from '../time-zone.js'

const coerceDate: Coercion = (value) => {
  const text = String(value)
  const [whole, year, month, day, rest] = /^(\d{4})-(\d\d)-(\d\d)(T| |$)/.exec(text) ?? []
  // Year 0 is valid here.
  const isValid = whole !== undefined && isDay(Number(year) === 0 ? 2000 : Number(year), Number(month), Number(day))
  if (!isValid) return { value: null, problem: 'is not a date' }
  return rest === '' ? { value: text } : { value: `${year}-${month}-${day}`, problem: 'is not a date' }
}

const coerceTime: Coercion = (value) => {
  const time = timeOfDay(value)
  if (time === null) return { value: null, problem: 'is not a time of day' }
  return time.length <= 12 ? { value: time } : { value: time.slice(0, 12), problem: 'is finer than milliseconds' }
}

/** The range of `datetime`, and of `timestamp`, which has 32 bits. */
export const spans = {
  datetime: [Date.UTC(100, 0, 2), Date.UTC(9999, 11, 31)],
  timestamp: [1_000, 2_147_483_647_999],
} as const

/** Columns without fractional seconds are for Strapi's internal use: their milliseconds are not shown anywhere. */
const coerceTimestamp =
  ([first, last]: readonly [number, number], hasSecondsOnly: boolean): Coercion =>
  (value) => {
    // Microseconds come from a server, as text.
    const isFiner = typeof value === 'string' && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{4,6}$/.test(value)
    const given = isFiner ? fromWallClock(value) : value
    const timestamp = typeof given === 'string' && !isDecimal(given) ? Date.parse(given) : Number(given ?? Number.NaN)
    if (Number.isNaN(timestamp)) return { value: null, problem: 'is not a timestamp' }
    if (timestamp < first || timestamp > last) return { value: null, problem: 'is beyond the range of the column' }
    if (isFiner) return { value }
    if (hasSecondsOnly) return { value: Math.floor(timestamp / 1000) * 1000 }
    const whole = Math.floor(timestamp)
    if (whole === value) return { value: whole }
    return { value: whole, problem: whole === timestamp ? 'is not a number' : 'is finer than milliseconds' }
  }

const integerBits: Readonly<Record<string, number>> = { tinyint: 8, smallint: 16, mediumint: 24, int: 32, bigint: 64 }

/** Returns a function that coerces values to the column. */
export const coercionTo = coercionFor({
  text: { unstorable: /\p{Surrogate}/u, problem: 'has half of a surrogate pair', hasUnstorableEscapes: false },
  integer: (type) => coerceInteger(integerBits[/^\w+/.exec(type)![0]] ?? 64, !type.includes('unsigned')),
  number: (type, [precision = 10, scale = 0]) =>
    type.startsWith('decimal') ? coerceDecimal(precision, scale) : coerceFloat(type.startsWith('float') ? 32 : 64),
  date: coerceDate,
  time: coerceTime,
  datetime: (type, [fraction]) => coerceTimestamp(type.startsWith('timestamp') ? spans.timestamp : spans.datetime, fraction === undefined),
})
