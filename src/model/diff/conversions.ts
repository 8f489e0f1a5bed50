// How stored values of one attribute type become those of another: a rule per pair of types, and the rule applied to one value.
// Strapi copies values as they are and leaves mixed storage behind; here what does not convert is null, and kept aside.

import type { ScalarType } from '../../foundation/public/attribute-types.js'
import { attributeTypes } from '../schema/attributes.js'
import { blocksIn, paragraphsOf, textOfBlocks } from './blocks.js'

/** `same` keeps the stored value; `none` converts nothing; the others name what a value becomes. */
export type ConversionRule =
  | 'same'
  | 'text'
  | 'integer'
  | 'biginteger'
  | 'number'
  | 'decimal'
  | 'boolean'
  | 'date'
  | 'time'
  | 'datetime'
  | 'json'
  | 'blocks'
  | 'none'

/** The first and the last value of a column: moments in milliseconds since 1970, days as texts. */
type Span = readonly [first: number | string, last: number | string]

/** What the columns of a database hold of the types of which they do not hold every value. */
export type ColumnSpans = Readonly<Partial<Record<ScalarType, Span>>>

/** How values of one attribute type become those of another. */
export interface Conversion {
  readonly from: ScalarType
  readonly to: ScalarType
  readonly rule: ConversionRule
  /** What the column of the new type holds, where values of the former one may be beyond it. */
  readonly within?: Span
}

/** The stored form of a type. */
type Kind = Exclude<ConversionRule, 'same' | 'none'> | 'password'

/** What values of a type are, for conversions. */
export function kindOf(type: ScalarType): Kind {
  if (type === 'password' || type === 'integer' || type === 'decimal' || type === 'blocks') return type
  return attributeTypes[type].family
}

/** Pairs of kinds whose values stay as they are. */
const sameStorage = new Set(['integer>biginteger', 'integer>number', 'boolean>boolean', 'blocks>json'])

/** Pairs of kinds that convert, besides to text, json and blocks, which everything converts to but passwords. */
const converting = new Set([
  ...['integer', 'biginteger', 'number', 'decimal', 'boolean', 'date', 'time', 'datetime'].map((to) => `text>${to}`),
  ...[
    'integer>decimal',
    'biginteger>decimal',
    'number>decimal',
    'boolean>decimal',
    'decimal>integer',
    'decimal>biginteger',
    'decimal>number',
  ],
  ...['integer>boolean', 'biginteger>integer', 'biginteger>number', 'biginteger>boolean', 'number>integer', 'number>biginteger'],
  ...['boolean>integer', 'boolean>biginteger', 'boolean>number'],
  ...['date>datetime', 'datetime>date', 'datetime>time'],
])

/** How values of one attribute type become another's in a database with these columns. */
export function conversionOf(from: ScalarType, to: ScalarType, spans: ColumnSpans = {}): Conversion {
  const conversion = ruleOf(from, to)
  const [former, within] = [spans[from], spans[to]]
  if (within === undefined || conversion.rule === 'none') return conversion
  const isInside = conversion.rule === 'same' && former !== undefined && isWithin(former[0], within) && isWithin(former[1], within)
  return isInside ? conversion : { ...conversion, within }
}

const isWithin = (value: number | string, [first, last]: Span): boolean => value >= first && value <= last

/** The rule for values of one attribute type that become another's. */
function ruleOf(from: ScalarType, to: ScalarType): Conversion {
  const [here, there] = [kindOf(from), kindOf(to)]
  const pair = `${here}>${there}`
  if (here === 'password' || there === 'password') return { from, to, rule: here === there ? 'same' : 'none' }
  if (here === there || sameStorage.has(pair)) return { from, to, rule: 'same' }
  if (there === 'text' || there === 'json' || there === 'blocks') return { from, to, rule: there }
  return { from, to, rule: converting.has(pair) ? there : 'none' }
}

/** Pairs of kinds in which every value converts and can be converted back. */
const lossless = new Set([
  ...['integer', 'biginteger', 'number', 'decimal', 'boolean', 'date', 'time', 'datetime', 'json'].flatMap((kind) => [
    `${kind}>text`,
    `${kind}>json`,
  ]),
  ...['integer', 'biginteger', 'number', 'decimal', 'boolean', 'date', 'time', 'datetime', 'text'].map((kind) => `${kind}>blocks`),
  ...['text>json', 'decimal>number', 'boolean>decimal', 'boolean>integer', 'boolean>biginteger', 'boolean>number', 'date>datetime'],
])

/** True if no value is lost or shortened by the conversion. */
export const isLossless = ({ from, to, rule, within }: Conversion): boolean =>
  within === undefined &&
  (rule === 'same' ? !isNarrowed(from, to) : rule !== 'none' && lossless.has(`${kindOf(from)}>${kindOf(to)}`) && !isNarrowed(from, to))

/** True if a text of the first type may be too long for the column of the second. */
export const isNarrowed = (from: ScalarType, to: ScalarType): boolean =>
  attributeTypes[to].column === 'varchar(255)' && ['text', 'json'].includes(attributeTypes[from].column)

const [leastInteger, greatestInteger] = [-2_147_483_648, 2_147_483_647]
/** Of ten digits, a decimal has two behind the point. */
const leastBeyondDecimal = 100_000_000

const trimmed = (value: unknown): string => String(value).trim()

/** What each rule makes of a value as the database has it; undefined: it does not convert. */
const rules: Readonly<Record<ConversionRule, (value: string | number, from: Kind) => string | number | undefined>> = {
  same: (value) => value,
  none: () => undefined,
  text: (value, from) => (from === 'blocks' ? textOfBlocks(String(value)) : textOf(value, from)),
  blocks: (value, from) => {
    if (from === 'json') return blocksIn(String(value)) === null ? undefined : String(value)
    const text = textOf(value, from)
    return text === undefined || blocksIn(text) !== null ? text : paragraphsOf(text)
  },
  json: (value, from) => {
    if (from === 'text') return isJsonText(value) ? String(value) : JSON.stringify(String(value))
    if (from === 'integer' || from === 'number' || from === 'decimal') return String(value)
    if (from === 'boolean') return Number(value) === 1 ? 'true' : 'false'
    return JSON.stringify(from === 'datetime' ? isoOf(value) : String(value))
  },
  integer: (value) => {
    const number = /^-?\d{1,10}$/.test(trimmed(value)) ? Number(value) : Number.NaN
    return number >= leastInteger && number <= greatestInteger ? number : undefined
  },
  biginteger: (value) => (/^-?\d{1,18}$/.test(trimmed(value)) ? trimmed(value) : undefined),
  number: (value, from) => (from === 'decimal' || /^-?\d{1,15}(\.\d{1,15})?$/.test(trimmed(value)) ? Number(value) : undefined),
  decimal: (value, from) => {
    const number = from === 'number' || /^-?\d{1,15}(\.\d{1,15})?$/.test(trimmed(value)) ? Number(value) : Number.NaN
    const rounded = Math.round(number * 100) / 100
    return Math.abs(rounded) < leastBeyondDecimal ? rounded : undefined
  },
  boolean: (value) => {
    const text = trimmed(value).toLowerCase()
    return text === '1' || text === 'true' ? 1 : text === '0' || text === 'false' ? 0 : undefined
  },
  date: (value, from) => {
    if (from === 'datetime') return isoOf(value)?.slice(0, 10)
    return /^\d{4}-\d\d-\d\d$/.test(trimmed(value)) && isDate(trimmed(value)) ? trimmed(value) : undefined
  },
  time: (value, from) => {
    if (from === 'datetime') return isoOf(value)?.slice(11, 23)
    const [, time, fraction = ''] = /^((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:\.(\d{1,3}))?$/.exec(trimmed(value)) ?? []
    return time === undefined ? undefined : `${time}.${fraction.padEnd(3, '0')}`
  },
  datetime: (value) => {
    const form = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/
    if (!form.test(trimmed(value)) || !isDate(trimmed(value).slice(0, 10))) return undefined
    const moment = Date.parse(trimmed(value))
    return Number.isNaN(moment) ? undefined : moment
  },
}

/** A value as text, as the API returns it. */
function textOf(value: string | number, from: Kind): string | undefined {
  if (from === 'datetime') return isoOf(value)
  return from === 'boolean' ? (Number(value) === 1 ? 'true' : 'false') : String(value)
}

/** True for a day that is in the calendar. */
function isDate(day: string): boolean {
  const moment = Date.parse(`${day}T00:00:00.000Z`)
  return !Number.isNaN(moment) && isoOf(moment)?.slice(0, 10) === day
}

/** A moment, in milliseconds since 1970 or as text, as ISO 8601. */
function isoOf(value: string | number): string | undefined {
  const moment = typeof value === 'number' || /^-?\d+$/.test(value) ? Number(value) : Date.parse(value)
  return Number.isNaN(moment) || Math.abs(moment) > 8.64e15 ? undefined : new Date(moment).toISOString()
}

function isJsonText(value: string | number): boolean {
  try {
    JSON.parse(String(value))
    return true
  } catch {
    return false
  }
}

/**
 * Converts one stored value, in the form that SQLite stores: moments in milliseconds, booleans 0 and 1, JSON as text.
 * Returns null for null and for a value that does not convert.
 */
export function convertValue({ from, to, rule, within }: Conversion, value: string | number | null): string | number | null {
  if (value === null) return null
  const converted = rules[rule](value, kindOf(from)) ?? null
  if (converted !== null && within !== undefined && typeof converted === typeof within[0] && !isWithin(converted, within)) return null
  return typeof converted === 'string' && isNarrowed(from, to) && [...converted].length > 255 ? null : converted
}

/** Kinds whose values become those of another kind, but not always whole. */
const shortening = new Set([
  ...['datetime>date', 'datetime>time', 'json>blocks', 'blocks>text'],
  ...['text>decimal', 'integer>decimal', 'biginteger>decimal', 'number>decimal'],
])

/** True for conversions that may leave out a part of a value, or the whole, as only the values themselves can tell. */
export const isShortening = ({ from, to }: Conversion): boolean => shortening.has(`${kindOf(from)}>${kindOf(to)}`)

/** Whether a conversion loses something of a value: it becomes null, or nothing leads back from what it becomes. */
export function losesOf(conversion: Conversion, value: string | number): boolean {
  const converted = convertValue(conversion, value)
  if (converted === null) return true
  return isShortening(conversion) && !isSame(convertValue(conversionOf(conversion.to, conversion.from), converted), value)
}

/** Whether two stored values are the same, however the database writes JSON. */
export const isSame = (one: string | number | null, other: string | number | null): boolean =>
  one === other || (one !== null && other !== null && jsonOf(one) === jsonOf(other))

function jsonOf(value: string | number): string {
  try {
    // No number holds every whole one.
    if (/^-?\d{16,}$/.test(String(value))) return String(value)
    return JSON.stringify(JSON.parse(String(value)), (_, inner: unknown) => (isObject(inner) ? sorted(inner) : inner))
  } catch {
    return String(value)
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value)

/** PostgreSQL keeps the keys of an object in an order of its own. */
const sorted = (value: object): object => Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
