// Validates the text fields of account requests, with Strapi's error messages.

import { printed } from '../../foundation/errors/bounded-values.js'
import { validationError } from '../../foundation/errors/errors.js'
import type { ContentType } from '../../model/schema/types.js'
import { bodyMembers } from '../access/body.js'
import { longestPassword } from './passwords.js'

/** The rules for one text field of a body. */
export interface Field {
  readonly name: string
  /** Defaults to true. */
  readonly required?: boolean
  readonly email?: boolean
  /** Minimum number of characters. */
  readonly minLength?: number
  /** True for a password, whose length in bytes is limited. */
  readonly password?: boolean
  /** The name of a field that this one must equal. */
  readonly repeats?: string
}

/** One validation error in Strapi's format. */
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

/** True for the address of a mailbox. */
export const isEmailAddress = (text: string): boolean => text.length <= longestAddress && addressForm.test(text)

/**
 * Reads text fields from a body. Other members are ignored, or refused with `only`.
 * @throws ApiError 400 with all errors.
 */
export function readFields(body: unknown, fields: readonly Field[], only = false): Readonly<Record<string, string | undefined>> {
  // For a list, errors about its fields would be misleading.
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
  { name, required = true, email, minLength, password, repeats }: Field,
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
  if (minLength !== undefined && value.length < minLength) messages.push(`${name} must be at least ${minLength} characters`)
  if (required && value === '') messages.push(`${name} is a required field`)
  if (email && value !== '' && !isEmailAddress(value)) messages.push(`${name} must be a valid email`)
  if (password && Buffer.byteLength(value) > longestPassword) messages.push('Password must be less than 73 bytes')
  if (repeats !== undefined && value !== given[repeats]) messages.push('Passwords do not match')
  return messages.map((message) => fieldError(name, message, value))
}

/** Checks the lengths of a user's attributes against the model. */
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

/** Combines errors into one: a single error keeps its message, several are counted. */
export function fieldErrors(errors: readonly FieldError[]): Error {
  return validationError(messageOf(errors), { errors })
}

/** Returns the combined message of several errors. */
export const messageOf = (errors: readonly { readonly message: string }[]): string =>
  errors.length === 1 ? errors[0]!.message : `${errors.length} errors occurred`

/** @throws ApiError 400 if a value is too short or too long for the model. */
export function checkLengths(type: ContentType, values: Readonly<Record<string, unknown>>): void {
  const errors = lengthErrors(type, values)
  if (errors.length > 0) throw fieldErrors(errors)
}

/** Creates an error about one field. */
export const fieldError = (name: string, message: string, value?: unknown): FieldError => ({
  path: [name],
  message,
  name: 'ValidationError',
  ...(value === undefined ? {} : { value }),
})
