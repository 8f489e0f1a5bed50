// Attribute types whose values are dates or times, and the ISO 8601 forms that Strapi accepts in queries and bodies.
import { inputError } from '../../foundation/errors/errors.js'
import type { AttributeType, InputForm, RuleContext, RuleError } from './attribute-type.js'
import * as options from './options.js'

const isoDate = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])/
const wholeTime = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,3})?$/
const maxTimestampMs = 8_640_000_000_000_000

const notADate = 'Invalid format, expected yyyy-MM-dd'
const notATimestamp = 'Invalid format, expected a timestamp or an ISO date'
const formatError = (message: string, expected: 'date' | 'time' | 'datetime') => inputError(message, [], 'format', { expected })

function parseDay(text: string): string {
  const day = text.slice(0, 10)
  if (!isoDate.test(text)) throw formatError(notADate, 'date')
  if (parseIsoDate(day) === null) throw formatError('Invalid date', 'date')
  return day
}

function parseTimeOfDay(text: string): string {
  if (!wholeTime.test(text)) throw formatError('Invalid time format, expected HH:mm:ss.SSS', 'time')
  const [whole, fraction = ''] = text.split('.')
  return `${whole}.${fraction.padEnd(3, '0')}`
}

/** Milliseconds since 1970, from an ISO 8601 date or from digits. As in Strapi, spaces after the digits are ignored. */
function parseTimestamp(text: string): number {
  // Strapi reads seven digits as an ordinal date.
  const milliseconds = parseIsoDate(text) ?? (/^-?\d+\s*$/.test(text) && !/^\d{7}$/.test(text) ? Number(text) : Number.NaN)
  if (!(Math.abs(milliseconds) <= maxTimestampMs)) throw formatError(notATimestamp, 'datetime')
  return milliseconds
}

const input: InputForm = { cast: (value) => value, type: null, nullable: true, rules: [], columnRules: [] }

const base = {
  options: options.temporal,
  answer: 'text',
  search: null,
  input,
  typescript: { response: 'string', filter: 'Octavo.MomentFilter', input: 'string | Date' },
} satisfies Partial<AttributeType>

export const date: AttributeType = {
  ...base,
  about: 'A day: 2026-05-01.',
  column: 'date',
  family: 'date',
  stored: 'date',
  parseQuery: (value) => parseDay(String(value)),
  store: (value) => {
    if (typeof value !== 'string') throw formatError(notADate, 'date')
    return parseDay(value)
  },
  schema: { response: { type: 'string', format: 'date' } },
  typescript: { response: 'string', filter: 'Octavo.DateFilter', input: 'string | Date' },
}

export const time: AttributeType = {
  ...base,
  about: 'A time of day: 18:30:00.000.',
  column: 'time',
  family: 'time',
  stored: 'time',
  parseQuery: (value) => parseTimeOfDay(String(value)),
  store: (value) => {
    if (typeof value !== 'string') throw formatError(`Expected a string, got a ${typeof value}`, 'time')
    return parseTimeOfDay(value)
  },
  schema: { response: { type: 'string', pattern: '^\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,3})?$' } },
  typescript: { response: 'string', filter: 'Octavo.TimeFilter' },
}

/** Refuses times that the database would change; other invalid times are refused when they are stored. */
const isStorable =
  (type: 'datetime' | 'timestamp') =>
  (value: unknown, _: unknown, { momentFault }: RuleContext): RuleError | null => {
    if (momentFault === undefined || (typeof value !== 'string' && typeof value !== 'number')) return null
    const milliseconds = tryToParse(String(value))
    const says = milliseconds === null ? null : momentFault(milliseconds, type)
    return says === null ? null : { says, code: 'format', params: { expected: 'datetime' } }
  }

function tryToParse(text: string): number | null {
  try {
    const milliseconds = parseTimestamp(text)
    return Number.isInteger(milliseconds) ? milliseconds : null
  } catch {
    return null
  }
}

function storeTimestamp(value: unknown): number {
  if (typeof value !== 'string' && typeof value !== 'number') throw formatError(notATimestamp, 'datetime')
  // As in Strapi, fractions of a millisecond are refused, and digits that are an ISO 8601 date are that date: 2023, 20230101.
  const milliseconds = parseTimestamp(String(value))
  if (!Number.isInteger(milliseconds)) throw formatError(notATimestamp, 'datetime')
  return milliseconds
}

export const datetime: AttributeType = {
  ...base,
  about: 'A moment: 2026-05-01T18:30:00.000Z.',
  column: 'datetime',
  family: 'datetime',
  answer: 'datetime',
  stored: 'datetime',
  input: { ...input, rules: [isStorable('datetime')], columnRules: [isStorable('datetime')] },
  parseQuery: (value) => parseTimestamp(String(value)),
  store: storeTimestamp,
  schema: { response: { type: 'string', format: 'date-time' } },
}

export const timestamp: AttributeType = {
  ...datetime,
  about: 'A moment.',
  options: { ...options.temporal, ...options.anyDefault },
  column: 'moment',
  answer: 'timestamp',
  input: { ...input, rules: [isStorable('timestamp')], columnRules: [isStorable('timestamp')] },
  schema: { ...datetime.schema, input: { type: 'string', examples: ['2025-01-31T12:00:00.000Z'] } },
}

const datePart = /^(?:-?(\d{2})(?:-?(\d{2}))?|-?)$/
const timePart = /^(\d{2}(?:[.,]\d*)?)(?::?(\d{2}(?:[.,]\d*)?))?(?::?(\d{2}(?:[.,]\d*)?))?$/
const offsetPart = /^([+-])(\d{2})(?::?(\d{2}))?$/

/** Milliseconds since 1970 of an ISO 8601 date with or without a time; UTC without an offset. Null for any other text. */
export function parseIsoDate(text: string): number | null {
  const [first = '', second, more] = text.split(/[T ]/, 3)
  if (more !== undefined || first.includes(':')) return null
  // As in Strapi, text after a zone in the date belongs to the zone.
  const zoned = first.search(/z/i)
  const [date, rest] = zoned === -1 ? [first, second] : [first.slice(0, zoned), text.slice(zoned)]
  const begin = parseDate(date)
  if (begin === null || rest === undefined || rest === '') return begin
  const zoneAt = rest.search(/[Z+-]/)
  const zone = zoneAt === -1 ? '' : rest.slice(zoneAt)
  const clock = zoneAt === -1 ? rest : rest.slice(0, zoneAt)
  const time = clock === '' ? 0 : parseTime(clock)
  const offset = zone === '' || zone === 'Z' ? 0 : parseOffset(zone)
  return time === null || offset === null ? null : Math.trunc(begin + time - offset)
}

function parseDate(text: string): number | null {
  const [whole, years, centuries] = /^(?:(\d{4}|[+-]\d{6})|(\d{2}|[+-]\d{4})$)/.exec(text) ?? []
  if (whole === undefined) return null
  const year = years === undefined ? Number(centuries) * 100 : Number(years)
  const found = datePart.exec(text.slice(whole.length))
  if (found === null) return null
  const month = Number(found[1] ?? 1) - 1
  const day = Number(found[2] ?? 1)
  const time = new Date(0).setUTCFullYear(year, month, day)
  const exists = new Date(time).getUTCMonth() === month && new Date(time).getUTCDate() === day
  return exists ? time : null
}

function parseTime(text: string): number | null {
  const found = timePart.exec(text)
  if (found === null) return null
  const [hours = 0, minutes = 0, seconds = 0] = found.slice(1).map((part) => Number((part ?? '0').replace(',', '.')))
  const exists = hours === 24 ? minutes === 0 && seconds === 0 : hours < 25 && minutes < 60 && seconds < 60
  return exists ? hours * 3_600_000 + minutes * 60_000 + seconds * 1000 : null
}

/** As in Strapi, an invalid offset is ignored. */
function parseOffset(text: string): number | null {
  const [, sign, hours, minutes = '0'] = offsetPart.exec(text) ?? []
  if (sign === undefined) return 0
  if (Number(minutes) > 59) return null
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3_600_000 + Number(minutes) * 60_000)
}
