// Forms of the options of attributes in schema.json. Schema checks and the JSON schemas for editors use them.
import type { JsonSchema } from '../../foundation/public/routes.js'

/** The form of a value. In a schema file, null counts as absent. */
interface Form {
  /** The end of an error message. */
  readonly words: string
  readonly fits: (value: unknown) => boolean
  readonly schema: JsonSchema
}

const orNull = (schema: JsonSchema): JsonSchema => ({ ...schema, type: [schema.type, 'null'].flat() })
const form = (words: string, schema: JsonSchema, fits: Form['fits']): Form => ({
  words,
  schema,
  fits: (value) => value === null || fits(value),
})

export const flag = form('true or false', orNull({ type: 'boolean' }), (value) => typeof value === 'boolean')
export const text = form('a text', orNull({ type: 'string' }), (value) => typeof value === 'string')
export const number = form('a number', orNull({ type: 'number' }), (value) => typeof value === 'number' && Number.isFinite(value))
export const count = form(
  'a whole number',
  orNull({ type: 'integer', minimum: 0 }),
  (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0,
)
export const digits = form('a whole number', orNull({ type: ['integer', 'string'], pattern: '^-?\\d+$' }), (value) =>
  /^-?\d+$/.test(String(value)),
)
export const texts = form(
  'a list of texts',
  orNull({ type: 'array', items: { type: 'string' } }),
  (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
)
export const object = form('an object', orNull({ type: 'object' }), (value) => typeof value === 'object' && !Array.isArray(value))
export const any = form('anything', {}, () => true)
export const pattern = form(
  'a regular expression',
  orNull({ type: 'string', format: 'regex' }),
  (value) => typeof value === 'string' && compiles(value),
)

function compiles(source: string): boolean {
  try {
    return new RegExp(source) instanceof RegExp
  } catch {
    return false
  }
}

interface Option {
  readonly form: Form
  readonly about: string
  readonly required?: true
  /** A stricter schema than that of the form, for editors. */
  readonly schema?: JsonSchema
}

export type OptionsByName = Readonly<Record<string, Option>>

export const option = (valueForm: Form, about: string, more: Omit<Option, 'form' | 'about'> = {}): Option => ({
  form: valueForm,
  about,
  ...more,
})

export const lengths: OptionsByName = {
  minLength: option(count, 'The least number of characters; drafts may have fewer.'),
  maxLength: option(count, 'The greatest number of characters.'),
}
export const worded: OptionsByName = {
  ...lengths,
  regex: option(pattern, 'What a published value must match.'),
  default: option(text, 'The value of a new document that has none.'),
}
export const numbered: OptionsByName = {
  min: option(number, 'The least value; drafts may have less.'),
  max: option(number, 'The greatest value.'),
  default: option(number, 'The value of a new document that has none.'),
}
export const temporal: OptionsByName = {
  default: option(text, 'The value of a new document that has none.'),
  min: option(any, 'Of the admin panel of Strapi.'),
  max: option(any, 'Of the admin panel of Strapi.'),
}
export const anyDefault: OptionsByName = { default: option(any, 'The value of a new document that has none.') }
