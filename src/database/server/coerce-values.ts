// Coerces values of another database to a server's column types. Every changed value comes with a problem for the report.
import { type CoercedValue, exactNumber, fullTime, isDecimal, type RowColumn, type RowValue } from '../transfer/rows.js'

export type Coercion = (value: RowValue) => CoercedValue

const notANumber: CoercedValue = { value: null, problem: 'is not a number' }

const toNumber = (value: RowValue): number =>
  value === null || value instanceof Uint8Array || (typeof value === 'string' && !isDecimal(value)) ? Number.NaN : Number(value)

const roundHalfAway = (number: number): number => Math.sign(number) * Math.round(Math.abs(number))

/** A bigint only if a number would be inexact, as on reading. */
const integerValue = (value: bigint): RowValue => (Number.isSafeInteger(Number(value)) ? Number(value) : value)

export function coerceInteger(bits: number, isSigned = true): Coercion {
  const end = 1n << BigInt(isSigned ? bits - 1 : bits)
  const min = isSigned ? -end : 0n
  return (value) => {
    const isDigits = typeof value === 'bigint' || (typeof value === 'string' && /^[+-]?\d+$/.test(value.trim()))
    const number = toNumber(value)
    if (!isDigits && !Number.isFinite(number)) return notANumber
    const integer = BigInt(isDigits ? value : roundHalfAway(number))
    if (integer < min || integer >= end) return { value: integerValue(integer < min ? min : end - 1n), problem: `is beyond ${bits} bits` }
    const isExact = isDigits || (Number.isInteger(number) && (typeof value !== 'string' || exactNumber(value) !== null))
    return isExact ? { value: integerValue(integer) } : { value: integerValue(integer), problem: 'is not an integer' }
  }
}

/** Rounds half away from zero, as servers do. */
export function coerceDecimal(precision: number, scale: number): Coercion {
  const beyond = `has more than ${precision - scale} digits before the point`
  const max = `${'9'.repeat(precision - scale)}.${'9'.repeat(scale)}`
  const asRead = (text: string): RowValue => exactNumber(text) ?? text
  return (value) => {
    const number = toNumber(value)
    if (Number.isNaN(number)) return notANumber
    const sign = number < 0 ? '-' : ''
    const text = typeof value === 'number' && Number.isInteger(value) ? String(BigInt(value)) : String(value).trim()
    const [, whole, fraction = ''] = /^[+-]?(\d*)(?:\.(\d*))?$/.exec(text) ?? []
    const decimals = whole === undefined ? undefined : lengthWithoutZeros(fraction)
    if (decimals !== undefined && decimals <= scale && whole!.replace(/^0+/, '').length <= precision - scale)
      return { value: asRead(`${sign}${whole!.replace(/^0+(?=\d)/, '')}.${fraction.slice(0, scale).padEnd(scale, '0')}`) }
    const units = Math.round(Math.abs(decimals === undefined ? number * 10 ** scale : Number(`${text}e${scale}`)))
    if (units >= 10 ** precision) return { value: asRead(sign + max), problem: beyond }
    const problem = `has ${decimals ?? `more than ${scale}`} decimals, of which ${scale} are kept`
    return { value: asRead(`${sign}${units}e-${scale}`), problem }
  }
}

/** The length without trailing zeros. A regular expression would take quadratic time. */
function lengthWithoutZeros(decimals: string): number {
  let length = decimals.length
  while (decimals[length - 1] === '0') length--
  return length
}

/** Significant digits in single precision. */
const singleDigits = 7

export const coerceFloat =
  (bits: 32 | 64): Coercion =>
  (value) => {
    if (value === 'NaN') return { value }
    const number = typeof value === 'string' || typeof value === 'bigint' ? Number(value) : value
    if (typeof number !== 'number' || Number.isNaN(number) || value === '') return notANumber
    if (typeof value === 'bigint' && BigInt(number) !== value) return { value: number, problem: 'has more digits than can be stored' }
    const held = bits === 64 || !Number.isFinite(number) ? number : Number(Math.fround(number).toPrecision(singleDigits))
    return held === number ? { value: number } : { value: held, problem: 'has more digits than can be stored' }
  }

const falses: readonly RowValue[] = [0, '0', 'f', 'false', '']

const coerceBoolean: Coercion = (value) => {
  if (value === 0 || value === 1) return { value }
  return { value: falses.includes(value) ? 0 : 1, problem: 'is neither 0 nor 1' }
}

export function isDay(year: number, month: number, day: number): boolean {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false
  return day <= new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate()
}

/** A time of day in full form; null: not a time of day. */
export function timeOfDay(value: RowValue): string | null {
  const [whole, hour, minute, second = '0'] = /^(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,6})?)?$/.exec(String(value)) ?? []
  return whole !== undefined && Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60 ? fullTime(whole) : null
}

const coerceBytes: Coercion = (value) =>
  value instanceof Uint8Array ? { value } : { value: Buffer.from(String(value)), problem: 'is not bytes' }

/** Characters that a server cannot store. */
interface TextRules {
  readonly unstorable: RegExp
  readonly problem: string
  /** True if JSON with escapes of these characters is rejected, too. */
  readonly hasUnstorableEscapes: boolean
}

const storableText = (text: string, { unstorable }: TextRules): string =>
  text.replace(new RegExp(unstorable, 'gu'), (found) => (found === '\0' ? '' : '\ufffd'))

const coerceText =
  (maxLength: number, rules: TextRules): Coercion =>
  (value) => {
    if (value instanceof Uint8Array) return { value: null, problem: 'is not a text' }
    const text = String(value)
    if (rules.unstorable.test(text)) return { value: [...storableText(text, rules)].slice(0, maxLength).join(''), problem: rules.problem }
    // A text has no more characters than UTF-16 units.
    if (text.length <= maxLength) return { value: text }
    const characters = [...text]
    if (characters.length <= maxLength) return { value: text }
    const problem = `has ${characters.length} characters, of which ${maxLength} are kept`
    return { value: characters.slice(0, maxLength).join(''), problem }
  }

function storableJson(value: unknown, rules: TextRules): unknown {
  if (typeof value === 'string') return storableText(value, rules)
  if (Array.isArray(value)) return value.map((each) => storableJson(each, rules))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [storableText(key, rules), storableJson(inner, rules)]))
}

/** Text that is not JSON becomes a JSON string, as in API responses. */
const coerceJson =
  (rules: TextRules): Coercion =>
  (value) => {
    if (value instanceof Uint8Array || (typeof value === 'number' && !Number.isFinite(value)))
      return { value: null, problem: 'is not JSON' }
    const text = String(value)
    let parsed: unknown = text
    let json = JSON.stringify(text)
    try {
      parsed = JSON.parse(text)
      json = text
    } catch {}
    if (!rules.unstorable.test(text) && !(rules.hasUnstorableEscapes && text.includes('\\u'))) return { value: json }
    const storable = storableJson(parsed, rules)
    return JSON.stringify(storable) === JSON.stringify(parsed)
      ? { value: json }
      : { value: JSON.stringify(storable), problem: rules.problem }
  }

/** The coercions that depend on the server, by column kind. */
interface ServerCoercions {
  readonly text: TextRules
  readonly integer: (type: string) => Coercion
  readonly number: (type: string, size: readonly number[]) => Coercion
  readonly date: Coercion
  readonly time: Coercion
  readonly datetime: (type: string, size: readonly number[]) => Coercion
}

/** Returns a function that coerces values to the column. */
export const coercionFor =
  (server: ServerCoercions) =>
  (column: RowColumn): Coercion => {
    const coerce = coercionOf(server, column)
    return (value) => (value === null ? { value } : coerce(value))
  }

function coercionOf(server: ServerCoercions, { kind, type }: RowColumn): Coercion {
  const size = /\((\d+)(?:,(\d+))?\)/.exec(type)?.slice(1).filter(Boolean).map(Number) ?? []
  switch (kind) {
    case 'text':
      return coerceText(size[0] ?? Number.POSITIVE_INFINITY, server.text)
    case 'integer':
      return server.integer(type)
    case 'number':
      return server.number(type, size)
    case 'boolean':
      return coerceBoolean
    case 'date':
    case 'time':
      return server[kind]
    case 'datetime':
      return server.datetime(type, size)
    case 'json':
      return coerceJson(server.text)
    case 'bytes':
      return coerceBytes
    default:
      return coerceText(Number.POSITIVE_INFINITY, server.text)
  }
}
