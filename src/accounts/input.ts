// Bodies of account requests, field by field: every field is text, what is wrong is told in the contract's words.
import { bodyMembers } from '../access/body.js'
import { printed } from '../errors/bounded-values.js'
import { validationError } from '../errors/errors.js'
import type { ContentType } from '../model/types.js'
import { longestPassword } from './passwords.js'

/** What a field of a body must be. */
export interface Field {
  readonly name: string
  /** False: may be left out. */
  readonly required?: boolean
  readonly email?: boolean
  readonly least?: number
  /** A password: bounded in bytes. */
  readonly password?: boolean
  /** Must repeat this field. */
  readonly repeats?: string
}

export interface FieldError {
  readonly path: readonly string[]
  readonly message: string
  readonly name: 'ValidationError'
  readonly value?: unknown
}

const label = '[a-z\\d\\u0080-\\uffff]([a-z\\d\\u0080-\\uffff-]*[a-z\\d\\u0080-\\uffff])?'
const atom = "[a-z\\d!#$%&'*+/=?^_`{|}~\\u0080-\\uffff-]+"
const addressForm = new RegExp(`^${atom}(\\.${atom})*@(${label}\\.)+${label}$`, 'i')
const longestAddress = 255

/**
 * Reads text fields out of a body; other members are ignored, or with `only` refused.
 * @throws ApiError 400 that lists everything that is wrong.
 */
export function readFields(body: unknown, fields: readonly Field[], only = false): Readonly<Record<string, string | undefined>> {
  // Not even an object: the fields of one are not what is wrong.
  if (Array.isArray(body))
    throw fieldErrors([
      { ...fieldError('', `this must be a \`object\` type, but the final value was: \`${printed(body)}\`.`, body), path: [] },
    ])
  const given = bodyMembers(body)
  const unknown = only ? Object.keys(given).filter((key) => fields.every(({ name }) => name !== key)) : []
  const errors = [
    ...fields.flatMap((field) => errorsOf(field, given)),
    ...(unknown.length === 0 ? [] : [{ ...fieldError('', `this field has unspecified keys: ${unknown.join(', ')}`, given), path: [] }]),
  ]
  if (errors.length > 0) throw fieldErrors(errors)
  return Object.fromEntries(fields.map(({ name }) => [name, given[name] as string | undefined]))
}

function errorsOf(
  { name, required = true, email, least, password, repeats }: Field,
  given: Readonly<Record<string, unknown>>,
): FieldError[] {
  const value = Object.hasOwn(given, name) ? given[name] : undefined
  if (value === undefined) return required ? [fieldError(name, `${name} is a required field`)] : []
  if (typeof value !== 'string') {
    return [
      fieldError(name, `${name} must be a \`string\` type, but the final value was: \`${printed(value)}\`.`, value),
      ...(repeats !== undefined && value !== given[repeats] ? [fieldError(name, 'Passwords do not match', value)] : []),
    ]
  }
  const messages: string[] = []
  if (least !== undefined && value.length < least) messages.push(`${name} must be at least ${least} characters`)
  if (required && value === '') messages.push(`${name} is a required field`)
  if (email && value !== '' && (value.length > longestAddress || !addressForm.test(value))) messages.push(`${name} must be a valid email`)
  if (password && Buffer.byteLength(value) > longestPassword) messages.push('Password must be less than 73 bytes')
  if (repeats !== undefined && value !== given[repeats]) messages.push('Passwords do not match')
  return messages.map((message) => fieldError(name, message, value))
}

/** Errors about the lengths that the model demands of a user's attributes. */
export function lengthErrors(type: ContentType, values: Readonly<Record<string, unknown>>): readonly FieldError[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const { minLength, maxLength } = (type.source.attributes[name] ?? {}) as { minLength?: number; maxLength?: number }
    if (typeof value !== 'string') return []
    if (minLength !== undefined && value.length < minLength)
      return [fieldError(name, `${name} must be at least ${minLength} characters`, value)]
    if (maxLength !== undefined && value.length > maxLength)
      return [fieldError(name, `${name} must be at most ${maxLength} characters`, value)]
    return []
  })
}

/** One error by its own message, several by their number. */
export function fieldErrors(errors: readonly FieldError[]): Error {
  return validationError(messageOf(errors), { errors })
}

export const messageOf = (errors: readonly { readonly message: string }[]): string =>
  errors.length === 1 ? errors[0]!.message : `${errors.length} errors occurred`

/** @throws ApiError 400 if the model finds a value too short or too long. */
export function checkLengths(type: ContentType, values: Readonly<Record<string, unknown>>): void {
  const errors = lengthErrors(type, values)
  if (errors.length > 0) throw fieldErrors(errors)
}

export const fieldError = (name: string, message: string, value?: unknown): FieldError => ({
  path: [name],
  message,
  name: 'ValidationError',
  ...(value === undefined ? {} : { value }),
})
