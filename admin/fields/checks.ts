// Constraints of a value that the service checks before a publication, for hints in the form. Unique values and links are
// checked by the service alone.
import type { FieldError } from '../form/errors.js'
import type { FormAttribute } from '../form/values.js'
import { matchesPattern, uidPattern } from './error-text.js'

/** A constraint that a value breaks. */
export type Finding = Pick<FieldError, 'code' | 'params'>

const isNumber = (option: unknown): option is number => typeof option === 'number' && Number.isFinite(option)
const isLength = (option: unknown): option is number => Number.isInteger(option) && Number(option) > 0

/** Column length of short texts. */
const columnLength = 255

const beyondAscii = '\\u00A0-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFEF'
const emailName = new RegExp(`^[a-z\\d!#$%&'*+\\-/=?^_\`{|}~${beyondAscii}]+(?:\\.[a-z\\d!#$%&'*+\\-/=?^_\`{|}~${beyondAscii}]+)*$`, 'i')
const emailHost = new RegExp(`^[a-z\\d${beyondAscii}][a-z\\d\\-._~${beyondAscii}]*$`, 'i')
const emailEnd = new RegExp(`[a-z${beyondAscii}]$`, 'i')
const emailDot = new RegExp(`[a-z\\d${beyondAscii}]\\.[a-z${beyondAscii}]`, 'i')

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  const host = text.slice(at + 1)
  return emailName.test(text.slice(0, Math.max(0, at))) && emailHost.test(host) && emailEnd.test(host) && emailDot.test(host)
}

function* textFindings(attribute: FormAttribute, text: string): Generator<Finding> {
  const { type, minLength, maxLength, regex, required } = attribute
  const { length: actual } = text
  const max = isLength(maxLength) ? maxLength : type === 'string' ? columnLength : undefined
  const isEmptyEmail = type === 'email' && text === ''
  if (type !== 'email' && isLength(minLength) && actual < minLength) yield { code: 'minLength', params: { min: minLength, actual } }
  if (max !== undefined && actual > max) yield { code: 'maxLength', params: { max, actual } }
  if ((text !== '' || required === true || type === 'uid') && matchesPattern(text, regex) === false)
    yield { code: 'pattern', params: { pattern: String(regex) } }
  if (isEmptyEmail) yield { code: 'required', params: {} }
  if (type === 'email' && !isEmptyEmail && !isEmail(text)) yield { code: 'format', params: { expected: 'email' } }
  if (type === 'uid' && typeof regex !== 'string' && matchesPattern(text, uidPattern) === false)
    yield { code: 'pattern', params: { pattern: uidPattern } }
}

function* numberFindings({ type, min, max }: FormAttribute, value: unknown): Generator<Finding> {
  const actual = Number(value)
  if (type !== 'float' && type !== 'decimal' && !/^[+-]?\d+$/.test(String(value).trim()))
    yield { code: 'type', params: { expected: 'integer' } }
  if (isNumber(min) && actual < min) yield { code: 'min', params: { min, actual } }
  if (isNumber(max) && actual > max) yield { code: 'max', params: { max, actual } }
}

function* listFindings({ min, max, required }: FormAttribute, { length: actual }: readonly unknown[]): Generator<Finding> {
  if (Number.isInteger(min) && actual < Number(min) && (required === true || actual > 0))
    yield { code: 'minItems', params: { min, actual } }
  if (Number.isInteger(max) && actual > Number(max)) yield { code: 'maxItems', params: { max, actual } }
}

const texts: readonly string[] = ['string', 'text', 'richtext', 'email', 'password', 'uid']
const numbers: readonly string[] = ['integer', 'biginteger', 'float', 'decimal']
/** Links may be required by a setting of the service. */
const links: readonly string[] = ['relation', 'media']

/** The constraints that a value breaks. */
export function checkValue(attribute: FormAttribute, value: unknown): readonly Finding[] {
  const { type } = attribute
  // Passwords are never shown, so an empty one may be stored.
  if (links.includes(type) || (type === 'password' && !value)) return []
  const isList = type === 'dynamiczone' || (type === 'component' && attribute.repeatable === true)
  if (isList) return [...listFindings(attribute, Array.isArray(value) ? value : [])]
  if (value === null || value === undefined) return attribute.required === true ? [{ code: 'required', params: {} }] : []
  if (type === 'enumeration' && Array.isArray(attribute.enum) && !attribute.enum.includes(value))
    return [{ code: 'enum', params: { allowed: attribute.enum } }]
  if (typeof value === 'string' && texts.includes(type)) return [...textFindings(attribute, value)]
  return numbers.includes(type) ? [...numberFindings(attribute, value)] : []
}
