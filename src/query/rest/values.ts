// A value of a query string becomes a value of the attribute's type, or a clear refusal.
import { ApiError, validationError } from '../../foundation/errors/errors.js'
import type { Family } from '../../model/schema/attributes.js'
import { attributeTypes } from '../../model/schema/attributes.js'
import type { Scalar } from '../../model/schema/types.js'
import { assertNever } from '../../model/schema/types.js'
import { parseIsoDate } from './iso-dates.js'

/** `false`, `0`, `f` and nothing are false; anything else is true (filters.9, and filters.15 in the contract `strapi`). */
export function readFlag(value: unknown): boolean {
  return !(value === null || value === '' || value === 'false' || value === '0' || value === 'f' || value === false || value === 0)
}

const isoDate = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])/
const wholeTime = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,3})?$/

/** Words for true and false where booleans are strict, in any case; nothing at all is false. */
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
 * @throws ApiError 400 with the recorded message when the value is none of the attribute's type.
 */
export function readValue(attribute: Scalar, value: unknown, strictBooleans = false): unknown {
  if (value === null || value === undefined) return null
  if (typeof value === 'object') throw validationError(`Invalid value for ${attribute.name}`)
  // Row ids are compared as they come: a documentId in their place finds nothing instead of failing.
  if (attribute.system && attribute.name === 'id') return readId(String(value))
  return convert(attributeTypes[attribute.type].family, attribute, value, strictBooleans)
}

function readId(text: string): unknown {
  if (/^-?\d{1,15}$/.test(text)) return Number(text)
  // Digits before a NUL would be taken for the number.
  return text.includes('\0') ? '' : text
}

function convert(family: Family, attribute: Scalar, value: unknown, strictBooleans: boolean): unknown {
  const text = String(value)
  switch (family) {
    case 'text':
    case 'json':
      return text
    case 'number':
      return readNumber(attribute, text)
    case 'biginteger':
      // Digits travel as text: SQLite converts them exactly, a double would round them.
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

/** Milliseconds since 1970, from an ISO 8601 date, or from digits that are none. As in Strapi, space behind the digits does not count. */
function readDatetime(text: string): number {
  const milliseconds = parseIsoDate(text) ?? (/^-?\d+\s*$/.test(text) ? Number(text) : Number.NaN)
  if (!(Math.abs(milliseconds) <= furthest)) throw validationError('Invalid format, expected a timestamp or an ISO date')
  return milliseconds
}

/** The last moment that a Date can hold. */
const furthest = 8_640_000_000_000_000

/** Text that LIKE and its kin look for; null, which is like nothing. */
export function readText(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'object' && value !== null) throw new ApiError('ValidationError', 'Invalid value')
  return String(value)
}
