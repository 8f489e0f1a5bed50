// English texts: errors by the codes of the service. They are shown under the field or next to its label.
import { formatOf } from '../format.js'

const { number, plural, list } = formatOf('en')

/** Numbers and texts of an error. */
type Params = Readonly<Record<string, unknown>>

const of = (value: unknown): number => (typeof value === 'number' ? value : Number(value ?? 0))
const names = (value: unknown): string => list(Array.isArray(value) ? value.map(String) : [])

const forms: Readonly<Record<string, string>> = {
  ...{ email: 'an e-mail address', date: 'a date', time: 'a time', datetime: 'a date and a time', timestamp: 'a date and a time' },
  ...{ integer: 'a whole number', biginteger: 'a whole number', number: 'a number', float: 'a number', decimal: 'a number' },
  ...{ string: 'a text', boolean: 'yes or no', array: 'a list', object: 'an object', json: 'JSON', link: 'a link' },
  uid: 'a value of letters, digits, hyphens, dots, underscores and tildes',
}

const expected = ({ expected: form }: Params): string => `Please enter ${forms[String(form)] ?? String(form ?? 'another value')}.`

export const errors = {
  required: (_label: string, _params: Params) => 'A value is needed.',
  type: (_label: string, params: Params) => expected(params),
  format: (_label: string, params: Params) => expected(params),
  enum: (_label: string, { allowed }: Params) => `Please choose one of ${names(allowed)}.`,
  minLength: (_label: string, { min, actual }: Params) =>
    actual === undefined
      ? `At least ${number(of(min))} characters are needed.`
      : `At least ${number(of(min))} characters: ${plural(of(min) - of(actual), { one: '1 is', other: '{} are' })} missing.`,
  maxLength: (_label: string, { max, actual }: Params) =>
    actual === undefined
      ? `At most ${number(of(max))} characters fit.`
      : `At most ${number(of(max))} characters: ${plural(of(actual) - of(max), { one: '1 is', other: '{} are' })} too many.`,
  min: (_label: string, { min }: Params) => `The smallest value is ${number(of(min))}.`,
  max: (_label: string, { max }: Params) => `The largest value is ${number(of(max))}.`,
  minItems: (_label: string, { min }: Params) => `At least ${plural(of(min), { one: '1 entry is', other: '{} entries are' })} needed.`,
  maxItems: (_label: string, { max }: Params) => `At most ${plural(of(max), { one: '1 entry fits', other: '{} entries fit' })}.`,
  pattern: (_label: string, { pattern }: Params) => `The text must match ${String(pattern)}.`,
  unique: (label: string, _params: Params) => `Another document has the same value of ${label}.`,
  notFound: (_label: string, _params: Params) => 'The linked document or file no longer exists.',
  unknown: (label: string, _params: Params) => `${label} does not exist any longer. Please load the page again.`,
  forbidden: (label: string, _params: Params) => `You may not write ${label}.`,
  unsupported: (label: string, _params: Params) => `${label} cannot be changed here.`,
  conflict: (label: string, _params: Params) => `${label} was changed in two ways at once.`,
  duplicate: (_label: string, _params: Params) => 'The same value is there twice.',
  cannotSort: (label: string, _params: Params) => `Lists cannot be sorted by ${label}.`,
  cursor: (_label: string, _params: Params) => 'The list has changed. Please begin again at its first page.',
  tooMany: (_label: string, { max }: Params) => `No more than ${number(of(max))} at once.`,
}
