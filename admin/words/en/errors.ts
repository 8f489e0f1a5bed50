// English texts: errors by the codes of the service. They are shown under the field or next to its label.
import { formatOf } from '../format.js'

const { number, plural, list } = formatOf('en')

/** Numbers and texts of an error. */
type Params = Readonly<Record<string, unknown>>

const of = (value: unknown): number => (typeof value === 'number' ? value : Number(value ?? 0))
const characters = (count: number): string => plural(count, { one: '1 character', other: '{} characters' })
const names = (value: unknown): string => list(Array.isArray(value) ? value.map(String) : [])

const forms: Readonly<Record<string, string>> = {
  ...{ email: 'an e-mail address', date: 'a date', time: 'a time', datetime: 'a date and time', timestamp: 'a date and time' },
  ...{ integer: 'a whole number', biginteger: 'a whole number', number: 'a number', float: 'a number', decimal: 'a number' },
  ...{ string: 'text', boolean: 'yes or no', array: 'a list', object: 'an object', json: 'JSON', link: 'a link' },
  uid: 'a value made of letters, digits, hyphens, dots, underscores and tildes',
}

const expected = ({ expected: form }: Params): string => `Please enter ${forms[String(form)] ?? String(form ?? 'another value')}.`

export const errors = {
  required: (_label: string, _params: Params) => 'This field is required.',
  type: (_label: string, params: Params) => expected(params),
  format: (_label: string, params: Params) => expected(params),
  enum: (_label: string, { allowed }: Params) => `Please choose one of ${names(allowed)}.`,
  minLength: (_label: string, { min, actual }: Params) =>
    actual === undefined
      ? `Enter at least ${characters(of(min))}.`
      : `At least ${characters(of(min))}: ${number(of(min) - of(actual))} more needed.`,
  maxLength: (_label: string, { max, actual }: Params) =>
    actual === undefined
      ? `Enter at most ${characters(of(max))}.`
      : `At most ${characters(of(max))}: ${number(of(actual) - of(max))} too many.`,
  min: (_label: string, { min }: Params) => `The value must be at least ${number(of(min))}.`,
  max: (_label: string, { max }: Params) => `The value must be at most ${number(of(max))}.`,
  minItems: (_label: string, { min }: Params) => `Add at least ${plural(of(min), { one: '1 entry', other: '{} entries' })}.`,
  maxItems: (_label: string, { max }: Params) => `At most ${plural(of(max), { one: '1 entry is', other: '{} entries are' })} allowed.`,
  pattern: (_label: string, { example }: Params) =>
    `The text does not have the expected format.${example === undefined ? '' : ` Example: “${String(example)}”.`}`,
  unique: (label: string, _params: Params) => `Another document already has this value for ${label}.`,
  notFound: (_label: string, _params: Params) => 'The linked document or file no longer exists.',
  unknown: (label: string, _params: Params) => `${label} no longer exists. Please reload the page.`,
  forbidden: (label: string, _params: Params) => `You do not have permission to change ${label}.`,
  unsupported: (label: string, _params: Params) => `${label} cannot be changed here.`,
  conflict: (label: string, _params: Params) => `${label} was changed in two places at once.`,
  duplicate: (_label: string, _params: Params) => 'This value appears twice.',
  cannotSort: (label: string, _params: Params) => `Lists cannot be sorted by ${label}.`,
  cursor: (_label: string, _params: Params) => 'The list has changed. Please start again from the first page.',
  tooMany: (_label: string, { max }: Params) => `No more than ${number(of(max))} at once.`,
}
