// Attribute types whose values are numbers or booleans.
import { inputError } from '../../foundation/errors/errors.js'
import type { AttributeType, InputForm, RuleContext, RuleError, TypedAttribute } from './attribute-type.js'
import { toBoolean, toNumber } from './casts.js'
import * as options from './options.js'

const isBound = (option: unknown): option is number => typeof option === 'number' && Number.isFinite(option)

const min = (value: number, { source }: TypedAttribute, { isDraft }: RuleContext): RuleError | null =>
  isBound(source.min) && value < source.min && !isDraft
    ? { says: `must be greater than or equal to ${source.min}`, code: 'min', params: { min: source.min, actual: Number(value) } }
    : null
const max = (value: number, { source }: TypedAttribute): RuleError | null =>
  isBound(source.max) && value > source.max
    ? { says: `must be less than or equal to ${source.max}`, code: 'max', params: { max: source.max, actual: Number(value) } }
    : null
const notOfType = (says: string, expected: string): RuleError => ({ says, code: 'type', params: { expected } })
const isInteger = (value: number) => (Number.isInteger(value) ? null : notOfType('must be an integer', 'integer'))
const finite = (value: number) => (Number.isFinite(value) ? null : notOfType('must be a finite number', 'number'))
/** As in Strapi, a number is judged by its text: 1e21 is not an integer. */
const isWholeNumber = (value: unknown) =>
  (typeof value === 'number' || typeof value === 'string') && /^[+-]?\d{1,1000}$/.test(String(value).trim())
    ? null
    : notOfType('must be a valid integer', 'integer')

function parseNumber(value: unknown, { name }: TypedAttribute): number {
  const text = String(value)
  const number = text.trim() === '' ? Number.NaN : Number(text)
  if (!Number.isFinite(number)) throw inputError(`Invalid number for ${name}`, [], 'type', { expected: 'number' })
  return number
}

const input: InputForm = {
  cast: toNumber,
  type: 'number',
  nullable: false,
  rules: [finite, min, max],
  columnRules: [finite],
}

const base = {
  options: options.numbered,
  family: 'number',
  answer: 'number',
  search: 'number',
  input,
  parseQuery: parseNumber,
  store: (value) => value as number,
  schema: { response: { type: 'number' } },
  typescript: { response: 'number', filter: 'Octavo.NumberFilter' },
} satisfies Omit<AttributeType, 'about' | 'column' | 'stored'>

export const integer: AttributeType = {
  ...base,
  about: 'A whole number.',
  column: 'integer',
  stored: 'integer',
  input: { ...input, rules: [isInteger, min, max], columnRules: [isInteger] },
  schema: { response: { type: 'integer' } },
}

export const float: AttributeType = { ...base, about: 'A number.', column: 'float', stored: 'number' }

export const decimal: AttributeType = { ...base, about: 'A number with two decimal places.', column: 'decimal(10,2)', stored: 'decimal' }

export const biginteger: AttributeType = {
  ...base,
  about: 'A whole number of up to 64 bits, as a text in JSON.',
  options: {
    min: options.option(options.digits, 'The least value; drafts may have less.'),
    max: options.option(options.digits, 'The greatest value.'),
    default: options.option(options.digits, 'The value of a new document that has none.'),
  },
  column: 'bigint',
  family: 'biginteger',
  answer: 'biginteger',
  stored: 'biginteger',
  input: {
    // A number that JSON cannot represent exactly is passed on as text.
    cast: (value) => (Number.isInteger(value) && !Number.isSafeInteger(value) ? String(value) : value),
    type: null,
    nullable: true,
    rules: [isWholeNumber, min, max],
    columnRules: [isWholeNumber],
    shown: (value) => String(BigInt(value as string | number)),
  },
  parseQuery: (value, attribute) => {
    const text = String(value)
    // Digits remain text: SQLite converts them exactly, a double would round them.
    return /^\s*[+-]?\d+\s*$/.test(text) ? text.trim() : parseNumber(text, attribute)
  },
  // Exact within the range of the column, the nearest double beyond.
  store: (value) => {
    const integer = BigInt(value as string | number)
    return BigInt.asIntN(64, integer) === integer ? integer : Number(integer)
  },
  schema: {
    response: { type: 'string', pattern: '^-?\\d+$' },
    input: { type: ['string', 'integer'], pattern: '^\\s*[+-]?\\d+\\s*$' },
  },
  typescript: { response: 'string', filter: 'Octavo.BigintegerFilter', input: 'string | number | bigint' },
}

/** `false`, `0`, `f` and the empty text are false; anything else is true (filters.9, and filters.15 in the contract `strapi`). */
export function readFlag(value: unknown): boolean {
  return !(value === null || value === '' || value === 'false' || value === '0' || value === 'f' || value === false || value === 0)
}

/** Strict booleans, case-insensitive; the empty text is false. */
const trueWords = ['true', 't', '1']
const falseWords = ['false', 'f', '0', '']

export const boolean: AttributeType = {
  about: 'true or false.',
  options: { default: options.option(options.flag, 'The value of a new document that has none.') },
  column: 'boolean',
  family: 'boolean',
  answer: 'boolean',
  stored: 'boolean',
  search: null,
  input: { cast: toBoolean, type: 'boolean', nullable: true, rules: [], columnRules: [] },
  parseQuery: (value, { name }, strictBooleans) => {
    if (!strictBooleans) return readFlag(value) ? 1 : 0
    const word = String(value).toLowerCase()
    if (!trueWords.includes(word) && !falseWords.includes(word))
      throw inputError(`Invalid boolean for ${name}`, [], 'type', { expected: 'boolean' })
    return trueWords.includes(word) ? 1 : 0
  },
  store: (value) => Number(value),
  schema: { response: { type: 'boolean' } },
  typescript: { response: 'boolean', filter: 'Octavo.BooleanFilter' },
}
