// Converts values of a query string to the attribute's type, dates in the ISO 8601 forms that Strapi's queries accept, or refuses them.
import { ApiError, validationError } from '../../foundation/errors/errors.js'
import { attributeTypes, type Family } from '../../model/schema/attributes.js'
import { assertNever, type Scalar } from '../../model/schema/types.js'

/** `false`, `0`, `f` and the empty text are false; anything else is true (filters.9, and filters.15 in the contract `strapi`). */
export function readFlag(value: unknown): boolean {
  return !(value === null || value === '' || value === 'false' || value === '0' || value === 'f' || value === false || value === 0)
}

const isoDate = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])/
const wholeTime = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,3})?$/

/** Strict booleans, case-insensitive; the empty text is false. */
const trueWords = ['true', 't', '1']
const falseWords = ['false', 'f', '0', '']

/** Row 15 of the contract. @throws ApiError 400 for a value that is neither true nor false */
function readBoolean(attribute: Scalar, value: unknown, isStrict: boolean): number {
  if (!isStrict) return readFlag(value) ? 1 : 0
  const word = String(value).toLowerCase()
  if (!trueWords.includes(word) && !falseWords.includes(word)) throw validationError(`Invalid boolean for ${attribute.name}`)
  return trueWords.includes(word) ? 1 : 0
}

/**
 * The value to compare `attribute` with. `strictBooleans`: row 15 of the contract.
 * @throws ApiError 400 with the recorded message if the value does not have the attribute's type.
 */
export function readValue(attribute: Scalar, value: unknown, strictBooleans = false): unknown {
  if (value === null || value === undefined) return null
  if (typeof value === 'object') throw validationError(`Invalid value for ${attribute.name}`)
  // Row ids are compared unchecked: a documentId instead finds nothing and does not fail.
  if (attribute.system && attribute.name === 'id') return readId(String(value))
  return convertTo(attributeTypes[attribute.type].family, attribute, value, strictBooleans)
}

function readId(text: string): unknown {
  if (/^-?\d{1,15}$/.test(text)) return Number(text)
  // Digits before a NUL would be read as the number.
  return text.includes('\0') ? '' : text
}

function convertTo(family: Family, attribute: Scalar, value: unknown, strictBooleans: boolean): unknown {
  const text = String(value)
  switch (family) {
    case 'text':
    case 'json':
      return text
    case 'number':
      return readNumber(attribute, text)
    case 'biginteger':
      // Digits remain text: SQLite converts them exactly, a double would round them.
      return /^\s*[+-]?\d+\s*$/.test(text) ? text.trim() : readNumber(attribute, text)
    case 'boolean':
      return readBoolean(attribute, value, strictBooleans)
    case 'date':
      return readDate(text)
    case 'time':
      return readTime(text)
    case 'datetime':
      return readDatetime(text)
    default:
      return assertNever(family)
  }
}

function readNumber(attribute: Scalar, text: string): number {
  const number = text.trim() === '' ? Number.NaN : Number(text)
  if (!Number.isFinite(number)) throw validationError(`Invalid number for ${attribute.name}`)
  return number
}

function readDate(text: string): string {
  const day = text.slice(0, 10)
  if (!isoDate.test(text)) throw validationError('Invalid format, expected yyyy-MM-dd')
  if (parseIsoDate(day) === null) throw validationError('Invalid date')
  return day
}

function readTime(text: string): string {
  if (!wholeTime.test(text)) throw validationError('Invalid time format, expected HH:mm:ss.SSS')
  const [whole, fraction = ''] = text.split('.')
  return `${whole}.${fraction.padEnd(3, '0')}`
}

/** Milliseconds since 1970, from an ISO 8601 date or from digits. As in Strapi, spaces after the digits are ignored. */
function readDatetime(text: string): number {
  // Strapi reads seven digits as an ordinal date.
  const milliseconds = parseIsoDate(text) ?? (/^-?\d+\s*$/.test(text) && !/^\d{7}$/.test(text) ? Number(text) : Number.NaN)
  if (!(Math.abs(milliseconds) <= maxTimestampMs)) throw validationError('Invalid format, expected a timestamp or an ISO date')
  return milliseconds
}
const maxTimestampMs = 8_640_000_000_000_000

/** The operand of LIKE and similar operators; null matches nothing. */
export function readText(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'object' && value !== null) throw new ApiError('ValidationError', 'Invalid value')
  return String(value)
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
