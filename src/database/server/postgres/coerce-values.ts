// Coerces values of another database to PostgreSQL's column types.
import type { ColumnSpans } from '../../../model/diff/conversions.js'
import { isDecimal } from '../../transfer/rows.js'
import { type Coercion, coerceDecimal, coerceFloat, coerceInteger, coercionFor, isDay, timeOfDay } from '../coerce-values.js'
import { encodeParameter, getParser } from './codec.js'

/** Dates have no year 0. */
export const spans: ColumnSpans = { date: ['0001-01-01', '9999-12-31'] }

const timestampType = 1114
const encodeTimestamp = (milliseconds: number): string => encodeParameter(timestampType, milliseconds)!
const decodeTimestamp = getParser(timestampType)

const coerceNumeric: Coercion = (value) => {
  const isNumber =
    typeof value === 'number' ? Number.isFinite(value) : typeof value === 'bigint' || value === 'NaN' || isDecimal(String(value))
  return isNumber ? { value } : { value: null, problem: 'is not a number' }
}

const maxYear = 5_874_897

const coerceDate: Coercion = (value) => {
  const dayIn = (text: string, form: RegExp) => {
    const [whole, year, month, day] = form.exec(text) ?? []
    return whole !== undefined && Number(year) <= maxYear && isDay(Number(year), Number(month), Number(day)) ? whole : null
  }
  const text = String(value)
  if (/^\d{4,7}-\d\d-\d\d BC$/.test(text) || /^-?infinity$/.test(text)) return { value: text }
  const whole = dayIn(text, /^(\d{4,7})-(\d\d)-(\d\d)$/)
  return whole === null ? { value: dayIn(text, /^(\d{4})-(\d\d)-(\d\d)(?=T| )/), problem: 'is not a date' } : { value: whole }
}

const coerceTime: Coercion = (value) => {
  const time = /^24:00:00(?:\.0*)?$/.test(String(value)) ? '24:00:00.000' : timeOfDay(value)
  return time === null ? { value: null, problem: 'is not a time of day' } : { value: time }
}

const minTimestamp = Date.UTC(-4713, 10, 25)
/** JavaScript's last timestamp. */
const maxTimestamp = 8.64e15

/** Columns without time zone store local time. */
const coerceTimestamp =
  (hasZone: boolean): Coercion =>
  (value) => {
    // Microseconds come from PostgreSQL, as text.
    if (typeof value === 'string' && /^\d+-\d\d-\d\d \d\d:\d\d:\d\d\.\d{4,6}\S*(?: BC)?$|^-?infinity$/.test(value)) return { value }
    const timestamp = typeof value === 'string' && !isDecimal(value) ? Date.parse(value) : Number(value)
    if (Number.isNaN(timestamp)) return { value: null, problem: 'is not a timestamp' }
    if (timestamp < minTimestamp || timestamp > maxTimestamp) return { value: null, problem: 'is before 4714 BC or after 275760' }
    const whole = Math.trunc(timestamp)
    if (whole !== timestamp) return { value: whole, problem: 'is finer than milliseconds' }
    const shown = hasZone ? whole : decodeTimestamp(encodeTimestamp(whole))
    if (shown === whole) return { value: whole }
    return { value: shown, problem: 'is not unique on the wall clock of this time zone (TZ)' }
  }

/** Returns a function that coerces values to the column. */
export const coercionTo = coercionFor({
  text: { unstorable: /\0|\p{Surrogate}/u, problem: 'has a NUL character or half of a surrogate pair', hasUnstorableEscapes: true },
  integer: (type) => coerceInteger(type === 'bigint' ? 64 : type === 'smallint' ? 16 : 32),
  number: (type, [precision, scale = 0]) => {
    if (!type.startsWith('numeric')) return coerceFloat(type === 'real' ? 32 : 64)
    return precision === undefined ? coerceNumeric : coerceDecimal(precision, scale)
  },
  date: coerceDate,
  time: coerceTime,
  datetime: (type) => coerceTimestamp(type.endsWith('with time zone')),
})
