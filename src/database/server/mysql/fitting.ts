// Values from another database as columns of MySQL or MariaDB can hold them.
import { decimalOf, fullTime, type RowColumn } from '../../transfer/rows.js'
import { type Fitter, fitBoolean, fitBytes, fitDecimal, fitFloat, fitInteger, isDay } from '../fitting.js'
import { fromWallClock } from '../wall-clock.js'

/** Texts in which something would change: half of a surrogate pair has no form in UTF-8. */
const isStorable = (text: string): boolean => !/\p{Surrogate}/u.test(text)

const storable = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd')

const fitText =
  (length: number): Fitter =>
  (value) => {
    if (value instanceof Uint8Array) return { value: null, problem: 'is not a text' }
    const text = String(value)
    if (!isStorable(text)) return { value: [...storable(text)].slice(0, length).join(''), problem: 'has half of a surrogate pair' }
    // Characters are never more than the units that JavaScript counts.
    if (text.length <= length) return { value: text }
    const characters = [...text]
    if (characters.length <= length) return { value: text }
    return { value: characters.slice(0, length).join(''), problem: `has ${characters.length} characters, of which ${length} are kept` }
  }

const fitDate: Fitter = (value) => {
  const text = String(value)
  const [whole, year, month, day, rest] = /^(\d{4})-(\d\d)-(\d\d)(T| |$)/.exec(text) ?? []
  // The year 0 is stored here.
  const valid = whole !== undefined && isDay(Number(year) === 0 ? 2000 : Number(year), Number(month), Number(day))
  if (!valid) return { value: null, problem: 'is not a date' }
  return rest === '' ? { value: text } : { value: `${year}-${month}-${day}`, problem: 'is not a date' }
}

const fitTime: Fitter = (value) => {
  const text = String(value)
  const [, hour, minute, second = '0', fraction = ''] = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?)?$/.exec(text) ?? []
  const valid = hour !== undefined && Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60
  if (!valid) return { value: null, problem: 'is not a time of day' }
  const full = fullTime(text)
  return /^0*$/.test(fraction.slice(3)) ? { value: full } : { value: full.slice(0, 12), problem: 'is finer than milliseconds' }
}

/** The first and the last moment of the columns: `datetime`, and `timestamp`, which has none beyond 32 bits. */
export const spans = {
  datetime: [Date.UTC(100, 0, 2), Date.UTC(9999, 11, 31)],
  timestamp: [1_000, 2_147_483_647_999],
} as const

/** `isWhole`: the column has no fractions of a second. Strapi's bookkeeping has such columns; nobody sees what they lose. */
const fitMoment =
  ([first, last]: readonly [number, number], isWhole: boolean): Fitter =>
  (value) => {
    // What is finer than milliseconds comes from a server, as a text of its own.
    const isFiner = typeof value === 'string' && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{4,6}$/.test(value)
    const given = isFiner ? fromWallClock(value) : value
    const moment = typeof given === 'string' && decimalOf(given) === null ? Date.parse(given) : Number(given ?? Number.NaN)
    if (Number.isNaN(moment)) return { value: null, problem: 'is not a timestamp' }
    if (moment < first || moment > last) return { value: null, problem: 'is beyond what the column can hold' }
    if (isFiner) return { value }
    if (isWhole) return { value: Math.floor(moment / 1000) * 1000 }
    const whole = Math.floor(moment)
    return whole === value
      ? { value: whole }
      : { value: whole, problem: whole === moment ? 'is not a number' : 'is finer than milliseconds' }
  }

/** A text that is not JSON is what the API shows as a text: it becomes one. */
const fitJson: Fitter = (value) => {
  if (value instanceof Uint8Array || (typeof value === 'number' && !Number.isFinite(value))) return { value: null, problem: 'is not JSON' }
  const text = String(value)
  try {
    JSON.parse(text)
  } catch {
    return { value: JSON.stringify(text) }
  }
  return isStorable(text) ? { value: text } : { value: storable(text), problem: 'has half of a surrogate pair' }
}

const bitsOf: Readonly<Record<string, number>> = { tinyint: 8, smallint: 16, mediumint: 24, int: 32, bigint: 64 }

function fitterOf({ kind, type }: RowColumn): Fitter {
  const [, first, second] = /\((\d+)(?:,(\d+))?\)/.exec(type) ?? []
  switch (kind) {
    case 'text':
      return fitText(first === undefined ? Number.POSITIVE_INFINITY : Number(first))
    case 'integer':
      return fitInteger(bitsOf[/^\w+/.exec(type)![0]] ?? 64, !type.includes('unsigned'))
    case 'number':
      return type.startsWith('decimal') ? fitDecimal(Number(first), Number(second ?? 0)) : fitFloat(type.startsWith('float') ? 32 : 64)
    case 'boolean':
      return fitBoolean
    case 'date':
      return fitDate
    case 'time':
      return fitTime
    case 'datetime':
      return fitMoment(type.startsWith('timestamp') ? spans.timestamp : spans.datetime, first === undefined)
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
