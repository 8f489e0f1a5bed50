// Attribute types whose values are texts.
import { getPattern, type Pattern } from '../schema/patterns.js'
import type { AttributeType, InputForm, Rule, RuleContext, RuleError, TypedAttribute } from './attribute-type.js'
import { toText } from './casts.js'
import * as options from './options.js'

/** The default length of a `string`: its column is a varchar of this length. */
export const maxStringCharacters = 255

const isLength = (option: unknown): option is number => typeof option === 'number' && Number.isInteger(option) && option > 0

const tooShort = (min: number, actual: number): RuleError => ({
  says: `must be at least ${min} characters`,
  code: 'minLength',
  params: { min, actual },
})
/** The error of a text with more than `max` characters. */
export const tooLong = (max: number, actual: number): RuleError => ({
  says: `must be at most ${max} characters`,
  code: 'maxLength',
  params: { max, actual },
})

const minLength = (value: string, { source }: TypedAttribute, { isDraft }: RuleContext) =>
  isLength(source.minLength) && value.length < source.minLength && !isDraft ? tooShort(source.minLength, value.length) : null

const maxLengthOr =
  (columnCharacters: number | null) =>
  (value: string, { source }: TypedAttribute) => {
    const limit = isLength(source.maxLength) ? source.maxLength : columnCharacters
    return limit !== null && value.length > limit ? tooLong(limit, value.length) : null
  }
const maxLength = maxLengthOr(null)
const columnLength = (value: unknown) =>
  String(value).length > maxStringCharacters ? tooLong(maxStringCharacters, String(value).length) : null

/** The pattern of an attribute of type `uid` without a `regex`. */
export const uidSource = '^[A-Za-z0-9-_.~]*$'
const uidPattern = getPattern(uidSource)!
const anyText = getPattern('^')!

function matches(value: string, pattern: Pattern, { trials }: RuleContext): ReturnType<Rule> {
  const isMatch = pattern.test(value) ?? trials?.results.get(pattern)?.get(value)
  if (isMatch === true) return null
  const fault: RuleError = {
    says: `must match the following: "${pattern.printed}"`,
    code: 'pattern',
    params: { pattern: pattern.printed.source },
  }
  return isMatch === false ? fault : { ...fault, depends: { pattern, value } }
}

const pattern = (value: string, { source, required }: TypedAttribute, context: RuleContext) => {
  if (typeof source.regex !== 'string' || context.isDraft) return null
  return value === '' && !required ? null : matches(value, getPattern(source.regex) ?? anyText, context)
}

const uidFormat = (value: string, { source }: TypedAttribute, context: RuleContext) =>
  context.isDraft ? null : matches(value, (typeof source.regex === 'string' ? getPattern(source.regex) : null) ?? uidPattern, context)

const emailFormat = (value: string, _: TypedAttribute, { isDraft }: RuleContext) => {
  if (value === '') return isDraft ? null : { says: 'cannot be empty', code: 'required' as const }
  return isDraft || isEmail(value) ? null : { says: 'must be a valid email', code: 'format' as const, params: { expected: 'email' } }
}

const beyondAscii = '\\u00A0-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFEF'
const local = new RegExp(`^[a-z\\d!#$%&'*+\\-/=?^_\`{|}~.${beyondAscii}]+$`, 'i')
const domain = new RegExp(`^[a-z\\d\\-._~${beyondAscii}]+$`, 'i')
const start = new RegExp(`^[a-z\\d${beyondAscii}]`, 'i')
const end = new RegExp(`[a-z${beyondAscii}]$`, 'i')
const dot = new RegExp(`[a-z\\d${beyondAscii}]\\.[a-z${beyondAscii}]`, 'i')

/** An address: letters of every script, no quoted parts, a dot in the domain. Every pattern runs in linear time. */
function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  if (at < 1) return false
  const name = text.slice(0, at)
  const host = text.slice(at + 1)
  const dotsFit = !name.startsWith('.') && !name.endsWith('.') && !name.includes('..')
  return dotsFit && local.test(name) && domain.test(host) && start.test(host) && end.test(host) && dot.test(host)
}

/**
 * A rule for passwords. They can only be checked while they are written, because publication finds the hash, whose length is not that of the
 * password. So drafts are not exempt, and hashes are.
 */
const unlessHash =
  (rule: (value: string, attribute: TypedAttribute, context: RuleContext) => ReturnType<Rule>): Rule =>
  (value: string, attribute, context) =>
    context.isStored && value.startsWith('$2') ? null : rule(value, attribute, { ...context, isDraft: false })

const input: InputForm = {
  cast: (value) => value,
  type: 'string',
  nullable: false,
  rules: [minLength, maxLength, pattern],
  columnRules: [],
}

const base = {
  options: options.worded,
  column: 'varchar(255)',
  family: 'text',
  answer: 'text',
  stored: 'text',
  search: 'text',
  input,
  parseQuery: (value) => String(value),
  store: (value) => value as string,
  schema: { response: { type: 'string' } },
  typescript: { response: 'string', filter: 'Octavo.TextFilter' },
} satisfies Omit<AttributeType, 'about'>

const { min, max } = options.numbered

export const string: AttributeType = {
  ...base,
  about: 'A line of text, up to 255 characters.',
  options: { ...options.worded, min: min!, max: max! },
  input: { ...input, rules: [minLength, maxLengthOr(maxStringCharacters), pattern], columnRules: [columnLength] },
}

export const text: AttributeType = { ...base, about: 'A text of any length.', column: 'text', isLong: true }

export const richtext: AttributeType = { ...base, about: 'A text in Markdown.', column: 'text', isLong: true }

export const email: AttributeType = {
  ...base,
  about: 'An e-mail address.',
  options: { ...options.worded, min: min!, max: max! },
  // The format's own "cannot be empty" takes the position of minLength.
  input: { ...input, rules: [maxLength, pattern, emailFormat] },
  schema: { ...base.schema, input: { type: 'string', format: 'email' } },
}

export const password: AttributeType = {
  ...base,
  about: 'A password: stored as a hash, never shown.',
  options: { ...options.lengths, regex: options.worded.regex!, ...options.anyDefault },
  answer: 'never',
  stored: 'password',
  search: null,
  input: { ...input, rules: [minLength, maxLength, pattern].map(unlessHash) },
  schema: { ...base.schema, input: { type: 'string', format: 'password', writeOnly: true } },
}

export const uid: AttributeType = {
  ...base,
  about: 'A text for URLs, unique in its content-type.',
  options: {
    ...options.worded,
    targetField: options.option(options.text, 'The attribute (string or text) that it is generated from.'),
    options: options.option(
      options.object,
      'How it is generated: separator, lowercase, decamelize, customReplacements, preserveLeadingUnderscore.',
    ),
  },
  input: { ...input, rules: [minLength, maxLength, pattern, uidFormat] },
}

export const enumeration: AttributeType = {
  ...base,
  about: 'One of several texts.',
  options: {
    enum: options.option(options.texts, 'The values.', {
      required: true,
      schema: { type: 'array', items: { type: 'string' }, minItems: 1, uniqueItems: true },
    }),
    enumName: options.option(options.text, "Its name in Strapi's GraphQL."),
    default: options.option(options.text, 'The value of a new document that has none: one of enum.'),
  },
  choices: ({ source }) => (Array.isArray(source.enum) ? source.enum : []),
  input: { ...input, cast: toText, rules: [] },
}
