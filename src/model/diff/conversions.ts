// Conversion of stored values between attribute types: a rule for each pair of types, and its application to one value. Strapi copies
// values unchanged and leaves mixed storage; here a value that does not convert is null, and archived.
import type { ScalarType } from '../../foundation/public/attribute-types.js'
import type { StoredForm } from '../types/attribute-type.js'
import { attributeTypes } from '../types/attribute-types.js'
import { id, joinedText, type SqlText, sqlText } from './sql-text.js'

/** `same` keeps the stored value; `none` converts nothing; the others name the target. */
type ConversionRule = Exclude<StoredForm, 'password'> | 'same' | 'none'

/** The first and the last value of a column: moments in milliseconds since 1970, days as texts. */
type Span = readonly [first: number | string, last: number | string]

/** Ranges of column types that do not hold every value of the attribute type. */
export type ColumnSpans = Readonly<Partial<Record<ScalarType, Span>>>

export interface Conversion {
  readonly from: ScalarType
  readonly to: ScalarType
  readonly rule: ConversionRule
  /** The range of the new column, if former values may be outside it. */
  readonly within?: Span
}

const getStoredForm = (type: ScalarType): StoredForm => attributeTypes[type].stored

/** Pairs of stored forms whose values stay as they are. */
const sameStorage = new Set(['integer>biginteger', 'integer>number', 'boolean>boolean', 'blocks>json'])

/** Pairs of stored forms that convert, in addition to text, json and blocks, to which everything but passwords converts. */
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

/** The conversion for a database with these column ranges. */
export function getConversion(from: ScalarType, to: ScalarType, spans: ColumnSpans = {}): Conversion {
  const conversion = ruleOf(from, to)
  const [former, within] = [spans[from], spans[to]]
  if (within === undefined || conversion.rule === 'none') return conversion
  const isInside = conversion.rule === 'same' && former !== undefined && isWithin(former[0], within) && isWithin(former[1], within)
  return isInside ? conversion : { ...conversion, within }
}

const isWithin = (value: number | string, [first, last]: Span): boolean => value >= first && value <= last

/** The rule for values of one attribute type that become another's. */
function ruleOf(from: ScalarType, to: ScalarType): Conversion {
  const [here, there] = [getStoredForm(from), getStoredForm(to)]
  const pair = `${here}>${there}`
  if (here === 'password' || there === 'password') return { from, to, rule: here === there ? 'same' : 'none' }
  if (here === there || sameStorage.has(pair)) return { from, to, rule: 'same' }
  if (there === 'text' || there === 'json' || there === 'blocks') return { from, to, rule: there }
  return { from, to, rule: converting.has(pair) ? there : 'none' }
}

/** Pairs of stored forms in which every value converts and can be converted back. */
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
  (rule === 'same'
    ? !isNarrowed(from, to)
    : rule !== 'none' && lossless.has(`${getStoredForm(from)}>${getStoredForm(to)}`) && !isNarrowed(from, to))

/** True if a text of the first type may be too long for the column of the second. */
const isNarrowed = (from: ScalarType, to: ScalarType): boolean =>
  attributeTypes[to].column === 'varchar(255)' && ['text', 'json'].includes(attributeTypes[from].column)

const leastInteger = -2_147_483_648
const greatestInteger = 2_147_483_647
/** A decimal has ten digits, two of them after the point. */
const leastBeyondDecimal = 100_000_000

const trimmed = (value: unknown): string => String(value).trim()

/** Undefined: the value does not convert. */
const rules: Readonly<Record<ConversionRule, (value: string | number, from: StoredForm) => string | number | undefined>> = {
  same: (value) => value,
  none: () => undefined,
  text: (value, from) => (from === 'blocks' ? toPlainText(String(value)) : textOf(value, from)),
  blocks: (value, from) => {
    if (from === 'json') return parseBlocks(String(value)) === null ? undefined : String(value)
    const text = textOf(value, from)
    return text === undefined || parseBlocks(text) !== null ? text : toParagraphs(text)
  },
  json: (value, from) => {
    if (from === 'text') return isJsonText(value) ? String(value) : JSON.stringify(String(value))
    if (from === 'integer' || from === 'number' || from === 'decimal') return String(value)
    if (from === 'boolean') return Number(value) === 1 ? 'true' : 'false'
    return JSON.stringify(from === 'datetime' ? toIsoString(value) : String(value))
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
    if (from === 'datetime') return toIsoString(value)?.slice(0, 10)
    return /^\d{4}-\d\d-\d\d$/.test(trimmed(value)) && isDate(trimmed(value)) ? trimmed(value) : undefined
  },
  time: (value, from) => {
    if (from === 'datetime') return toIsoString(value)?.slice(11, 23)
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
function textOf(value: string | number, from: StoredForm): string | undefined {
  if (from === 'datetime') return toIsoString(value)
  return from === 'boolean' ? (Number(value) === 1 ? 'true' : 'false') : String(value)
}

/** True for a day that is in the calendar. */
function isDate(day: string): boolean {
  const moment = Date.parse(`${day}T00:00:00.000Z`)
  return !Number.isNaN(moment) && toIsoString(moment)?.slice(0, 10) === day
}

/** Converts milliseconds since 1970 or text to ISO 8601. */
function toIsoString(value: string | number): string | undefined {
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
  const converted = rules[rule](value, getStoredForm(from)) ?? null
  if (converted !== null && within !== undefined && typeof converted === typeof within[0] && !isWithin(converted, within)) return null
  return typeof converted === 'string' && isNarrowed(from, to) && [...converted].length > 255 ? null : converted
}

/** Stored forms whose values become those of another form, but not always whole. */
const shortening = new Set([
  ...['datetime>date', 'datetime>time', 'json>blocks', 'blocks>text'],
  ...['text>decimal', 'integer>decimal', 'biginteger>decimal', 'number>decimal'],
])

/** Conversions that may drop a part of a value; only the values themselves decide. */
export const isShortening = ({ from, to }: Conversion): boolean => shortening.has(`${getStoredForm(from)}>${getStoredForm(to)}`)

/** True if the value becomes null, or cannot be restored from the result. */
export function losesData(conversion: Conversion, value: string | number): boolean {
  const converted = convertValue(conversion, value)
  if (converted === null) return true
  return isShortening(conversion) && !isSame(convertValue(getConversion(conversion.to, conversion.from), converted), value)
}

/** Ignores the database's formatting of JSON. */
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

/** PostgreSQL reorders the keys of objects. */
const sorted = (value: object): object => Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))

/** All numbers of one format have the same rest. */
const withoutDigits = (text: SqlText): SqlText => [...'0123456789'].reduce((left, digit) => sqlText`replace(${left}, ${digit}, '')`, text)

const part = (text: SqlText, from: number, length: number): SqlText => sqlText`substr(${text}, ${from}, ${length})`

/** Accepts 29 February in every year. */
function isInvalidDay(text: SqlText): SqlText {
  const [month, day] = [part(text, 6, 2), part(text, 9, 2)]
  return joinedText(
    [
      sqlText`${withoutDigits(part(text, 1, 10))} <> '--'`,
      sqlText`${part(text, 1, 10)} not like '____-__-__'`,
      sqlText`${month} not between '01' and '12'`,
      sqlText`${day} not between '01' and '31'`,
      sqlText`(${day} = '31' and ${month} in ('02', '04', '06', '09', '11'))`,
      sqlText`(${month} = '02' and ${day} > '28')`,
    ],
    ' or ',
  )
}

const isInvalidTime = (text: SqlText, from: number): SqlText =>
  joinedText(
    [
      sqlText`${withoutDigits(part(text, from, 8))} <> '::'`,
      sqlText`${part(text, from, 8)} not like '__:__:__'`,
      sqlText`${part(text, from, 2)} > '23'`,
      sqlText`${part(text, from + 3, 2)} > '59'`,
      sqlText`${part(text, from + 6, 2)} > '59'`,
    ],
    ' or ',
  )

/** Matches texts that are not, or may not be, a date, time or timestamp. */
const invalidFormats = {
  date: (text: SqlText) => sqlText`${isInvalidDay(text)} or ${part(text, 11, 1)} <> ''`,
  time: (text: SqlText) => {
    const rest = part(text, 9, 100)
    return sqlText`${isInvalidTime(text, 1)} or not (${rest} = '' or (${withoutDigits(rest)} = '.' and ${rest} like '._%' and ${part(text, 13, 1)} = ''))`
  },
  datetime: (text: SqlText) => {
    const rest = part(text, 20, 100)
    const isRest = sqlText`${rest} = 'Z' or (${withoutDigits(rest)} = '.Z' and ${rest} like '._%Z' and ${part(text, 25, 1)} = '')`
    const isMoment = sqlText`${part(text, 11, 1)} = 'T' and not (${isInvalidTime(text, 12)}) and (${isRest})`
    return sqlText`${isInvalidDay(text)} or not (${part(text, 11, 1)} = '' or (${isMoment}))`
  },
} as const

/**
 * A condition for the values that do not convert, or null. `exact` is false if the database cannot distinguish them, and the condition
 * includes others.
 */
export function unconvertibleValues(conversion: Conversion, column: string): { readonly where: SqlText; readonly exact: boolean } | null {
  const { from, to, rule } = conversion
  const value = sqlText`trim(concat(${id(column)}, ''))`
  const present = sqlText`${id(column)} is not null`
  const digits = withoutDigits(value)
  if (isShortening(conversion) || conversion.within !== undefined) return { where: present, exact: false }
  switch (rule) {
    case 'none':
      return { where: present, exact: true }
    case 'integer':
    case 'biginteger':
      return getStoredForm(from) === 'boolean'
        ? null
        : {
            where: sqlText`${present} and (${digits} not in ('', '-') or ${value} in ('', '-') or (${digits} = '-' and ${value} not like '-%') or substr(${value}, ${rule === 'integer' ? 10 : 19}, 1) <> '')`,
            exact: false,
          }
    case 'decimal':
      return null
    case 'number':
      return getStoredForm(from) === 'boolean' || getStoredForm(from) === 'decimal'
        ? null
        : {
            where: sqlText`${present} and (${digits} not in ('', '-', '.', '-.') or ${value} in ('', '-', '.', '-.') or ${value} like '.%' or ${value} like '-.%' or ${value} like '%.' or (${digits} in ('-', '-.') and ${value} not like '-%') or substr(${value}, 16, 1) <> '')`,
            exact: false,
          }
    case 'boolean':
      return { where: sqlText`${present} and lower(${value}) not in ('0', '1', 'true', 'false')`, exact: true }
    case 'date':
    case 'time':
    case 'datetime':
      return getStoredForm(from) === 'text' ? { where: sqlText`${present} and (${invalidFormats[rule](value)})`, exact: false } : null
    case 'same':
    case 'text':
    case 'json':
    case 'blocks':
      return isNarrowed(from, to) ? { where: sqlText`substr(concat(${id(column)}, ''), 256, 1) <> ''`, exact: true } : null
  }
}

interface Node {
  readonly type?: unknown
  readonly text?: unknown
  readonly children?: unknown
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value)
const isBlock = (value: unknown): boolean => isNode(value) && typeof value.type === 'string' && Array.isArray(value.children)

/** Parses a list of blocks; null for anything else. */
function parseBlocks(json: string): readonly Node[] | null {
  try {
    const value: unknown = JSON.parse(json)
    return Array.isArray(value) && value.every(isBlock) ? (value as readonly Node[]) : null
  } catch {
    return null
  }
}

/** The blocks of a text as JSON. */
const toParagraphs = (text: string): string =>
  JSON.stringify(text.split('\n').map((line) => ({ type: 'paragraph', children: [{ type: 'text', text: line }] })))

/** Plain text of blocks; undefined for other JSON. */
function toPlainText(json: string): string | undefined {
  return parseBlocks(json)
    ?.flatMap((block) => getLines(block))
    .join('\n')
}

/** Inline text is one line, and each list item is one. */
function getLines({ children }: Node): readonly string[] {
  const nodes = Array.isArray(children) ? children.filter(isNode) : []
  const isList = nodes.some(({ type }) => type === 'list-item' || type === 'list')
  return isList ? nodes.flatMap((node) => getLines(node)) : [nodes.map(inlineText).join('')]
}

function inlineText({ text, children }: Node): string {
  if (typeof text === 'string') return text
  return Array.isArray(children) ? children.filter(isNode).map(inlineText).join('') : ''
}
