// Values from another database as columns of PostgreSQL can hold them. What does not fit comes with a sentence, and as what is nearest.
import type { ColumnSpans } from '../../../model/diff/conversions.js'
import { decimalOf, fullTime, type RowColumn } from '../../transfer/rows.js'
import { asDecimal, type Fitter, fitBoolean, fitBytes, fitDecimal, fitFloat, fitInteger, isDay } from '../fitting.js'
import { encodeParameter, parserOf } from './codec.js'

/** There is no year 0 in a date. */
export const spans: ColumnSpans = { date: ['0001-01-01', '9999-12-31'] }

const timestampType = 1114
const encodeMoment = (milliseconds: number): string => encodeParameter(timestampType, milliseconds)!
const decodeMoment = parserOf(timestampType)

/** Texts in which PostgreSQL would change something: it has no NUL, and no half of a surrogate pair. */
const isStorable = (text: string): boolean => !text.includes('\0') && !/\p{Surrogate}/u.test(text)

const storable = (text: string): string => text.replaceAll('\0', '').replace(/\p{Surrogate}/gu, '\ufffd')

const fitText =
  (length: number): Fitter =>
  (value) => {
    if (value instanceof Uint8Array) return { value: null, problem: 'is not a text' }
    const text = String(value)
    if (!isStorable(text))
      return { value: [...storable(text)].slice(0, length).join(''), problem: 'has a NUL character or half of a surrogate pair' }
    // Characters are never more than the units that JavaScript counts.
    if (text.length <= length) return { value: text }
    const characters = [...text]
    if (characters.length <= length) return { value: text }
    return { value: characters.slice(0, length).join(''), problem: `has ${characters.length} characters, of which ${length} are kept` }
  }

const fitNumeric: Fitter = (value) => {
  if (value === 'NaN') return { value }
  const number = asDecimal(value)
  return number === null || number === 'infinite' ? { value: null, problem: 'is not a number' } : { value }
}

/** The last year of a date. */
const lastYear = 5_874_897

const fitDate: Fitter = (value) => {
  const dayOf = (text: string, form: RegExp) => {
    const [whole, year, month, day] = form.exec(text) ?? []
    return whole !== undefined && Number(year) <= lastYear && isDay(Number(year), Number(month), Number(day)) ? whole : null
  }
  const text = String(value)
  if (/^\d{4,7}-\d\d-\d\d BC$/.test(text) || /^-?infinity$/.test(text)) return { value: text }
  const whole = dayOf(text, /^(\d{4,7})-(\d\d)-(\d\d)$/)
  return whole === null ? { value: dayOf(text, /^(\d{4})-(\d\d)-(\d\d)(?=T| )/), problem: 'is not a date' } : { value: whole }
}

const fitTime: Fitter = (value) => {
  const text = String(value)
  const [, hour, minute, second = '0'] = /^(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,6})?)?$/.exec(text) ?? []
  const valid = hour !== undefined && Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60
  return valid || /^24:00:00(?:\.0*)?$/.test(text) ? { value: fullTime(text) } : { value: null, problem: 'is not a time of day' }
}

/** The first moment that PostgreSQL stores, and the last that JavaScript knows. */
const [firstMoment, lastMoment] = [Date.UTC(-4713, 10, 25), 8.64e15]

/** `zoned`: the column stores moments; otherwise what a clock of this process shows at that moment. */
const fitMoment =
  (zoned: boolean): Fitter =>
  (value) => {
    // What is finer than milliseconds comes from PostgreSQL, as a text of its own.
    if (typeof value === 'string' && /^\d+-\d\d-\d\d \d\d:\d\d:\d\d\.\d{4,6}\S*(?: BC)?$|^-?infinity$/.test(value)) return { value }
    const moment = typeof value === 'string' && decimalOf(value) === null ? Date.parse(value) : Number(value)
    if (Number.isNaN(moment)) return { value: null, problem: 'is not a timestamp' }
    if (moment < firstMoment || moment > lastMoment) return { value: null, problem: 'is before 4714 BC or after 275760' }
    const whole = Math.trunc(moment)
    if (whole !== moment) return { value: whole, problem: 'is finer than milliseconds' }
    const shown = zoned ? whole : decodeMoment(encodeMoment(whole))
    if (shown === whole) return { value: whole }
    return { value: shown, problem: 'is shown by the clock in this time zone (TZ) as another moment is' }
  }

/** A parsed JSON value whose texts can be stored; and whether all of them could. */
function storableJson(value: unknown): { readonly value: unknown; readonly changed: boolean } {
  let changed = false
  const walk = (each: unknown): unknown => {
    if (typeof each === 'string') {
      if (isStorable(each)) return each
      changed = true
      return storable(each)
    }
    if (Array.isArray(each)) return each.map(walk)
    if (typeof each !== 'object' || each === null) return each
    return Object.fromEntries(Object.entries(each).map(([key, inner]) => [walk(key), walk(inner)]))
  }
  return { value: walk(value), changed }
}

/** A text that is not JSON is what the API shows as a text: it becomes one. */
const fitJson: Fitter = (value) => {
  if (value instanceof Uint8Array || (typeof value === 'number' && !Number.isFinite(value))) return { value: null, problem: 'is not JSON' }
  const text = String(value)
  let parsed: unknown
  let written = text
  try {
    parsed = JSON.parse(text)
  } catch {
    parsed = text
    written = JSON.stringify(text)
  }
  // Only an escape can stand for what cannot be stored.
  if (isStorable(text) && !text.includes('\\u')) return { value: written }
  const kept = storableJson(parsed)
  if (!kept.changed) return { value: written }
  return { value: JSON.stringify(kept.value), problem: 'has a NUL character or half of a surrogate pair' }
}

function fitterOf({ kind, type }: RowColumn): Fitter {
  const [, first, second] = /\((\d+)(?:,(\d+))?\)/.exec(type) ?? []
  switch (kind) {
    case 'text':
      return fitText(first === undefined ? Number.POSITIVE_INFINITY : Number(first))
    case 'integer':
      return fitInteger(type === 'bigint' ? 64 : type === 'smallint' ? 16 : 32)
    case 'number':
      if (!type.startsWith('numeric')) return fitFloat(type === 'real' ? 32 : 64)
      return first === undefined ? fitNumeric : fitDecimal(Number(first), Number(second ?? 0))
    case 'boolean':
      return fitBoolean
    case 'date':
      return fitDate
    case 'time':
      return fitTime
    case 'datetime':
      return fitMoment(type.endsWith('with time zone'))
    case 'json':
      return fitJson
    case 'bytes':
      return fitBytes
    default:
      return fitText(Number.POSITIVE_INFINITY)
  }
}

/** How values are fitted into a column. */
export function fitterFor(column: RowColumn): Fitter {
  const fit = fitterOf(column)
  return (value) => (value === null ? { value } : fit(value))
}
