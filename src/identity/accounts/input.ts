// Validates the text fields of account requests, with Strapi's error messages.
import { printed, validationError } from '../../foundation/errors/errors.js'
import type { Issue } from '../../foundation/errors/issues.js'
import type { ContentType } from '../../model/schema/types.js'
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
  /** The code for the administration, which is not part of the details. */
  readonly issue?: Issue
}

const label = '[a-z\\d\\u0080-\\uffff]([a-z\\d\\u0080-\\uffff-]*[a-z\\d\\u0080-\\uffff])?'
const atom = "[a-z\\d!#$%&'*+/=?^_`{|}~\\u0080-\\uffff-]+"
const addressForm = new RegExp(`^${atom}(\\.${atom})*@(${label}\\.)+${label}$`, 'i')
const longestAddress = 255

/** True for the address of a mailbox. */
export const isEmailAddress = (text: string): boolean => text.length <= longestAddress && addressForm.test(text)

/** Text fields of a body, and their errors. Other members are ignored, or refused with `only`. */
export function checkFields(body: unknown, fields: readonly Field[], only = false) {
  // For a list, errors about its fields would be misleading.
  if (Array.isArray(body)) return { values: {}, errors: [typeError([], 'this', 'object', body)] }
  const given = bodyMembers(body)
  const unknown = only ? Object.keys(given).filter((key) => fields.every(({ name }) => name !== key)) : []
  const unspecified: FieldError = {
    ...fieldError('', `this field has unspecified keys: ${unknown.join(', ')}`, given),
    path: [],
    issue: { code: 'unknown', params: { name: unknown[0]! } },
  }
  const errors: readonly FieldError[] = [
    ...fields.flatMap((field) => errorsOf(field, given)),
    ...(unknown.length === 0 ? [] : [unspecified]),
  ]
  const values: Readonly<Record<string, string | undefined>> = Object.fromEntries(
    fields.map(({ name }) => [name, given[name] as string | undefined]),
  )
  return { values, errors }
}

/** Reads text fields from a body. @throws ApiError 400 with all errors */
export function readFields(body: unknown, fields: readonly Field[], only = false): Readonly<Record<string, string | undefined>> {
  const { values, errors } = checkFields(body, fields, only)
  if (errors.length > 0) throw fieldErrors(errors)
  return values
}

function errorsOf(
  { name, required = true, email, minLength, password, repeats }: Field,
  given: Readonly<Record<string, unknown>>,
): FieldError[] {
  const value = Object.hasOwn(given, name) ? given[name] : undefined
  if (value === undefined) return required ? [requiredField([name], name)] : []
  if (typeof value !== 'string') {
    return [
      typeError([name], name, 'string', value),
      ...(repeats !== undefined && value !== given[repeats]
        ? [{ ...fieldError(name, 'Passwords do not match', value), issue: { code: 'conflict' } as const }]
        : []),
    ]
  }
  const errors: FieldError[] = []
  const wrong = (message: string, issue: Issue): void => void errors.push({ ...fieldError(name, message, value), issue })
  const { length: actual } = value
  if (minLength !== undefined && actual < minLength)
    wrong(`${name} must be at least ${minLength} characters`, { code: 'minLength', params: { min: minLength, actual } })
  if (required && value === '') wrong(`${name} is a required field`, { code: 'required' })
  if (email && value !== '' && !isEmailAddress(value))
    wrong(`${name} must be a valid email`, { code: 'format', params: { expected: 'email' } })
  if (password && Buffer.byteLength(value) > longestPassword)
    wrong('Password must be less than 73 bytes', { code: 'maxLength', params: { max: longestPassword } })
  if (repeats !== undefined && value !== given[repeats]) wrong('Passwords do not match', { code: 'conflict' })
  return errors
}

/** Checks the lengths of a user's attributes against the model. */
function lengthErrors(type: ContentType, values: Readonly<Record<string, unknown>>): readonly FieldError[] {
  return Object.entries(values).flatMap(([name, value]): FieldError[] => {
    const { minLength, maxLength } = (type.source.attributes[name] ?? {}) as { minLength?: number; maxLength?: number }
    if (typeof value !== 'string') return []
    if (minLength !== undefined && value.length < minLength)
      return [
        {
          ...fieldError(name, `${name} must be at least ${minLength} characters`, value),
          issue: { code: 'minLength', params: { min: minLength, actual: value.length } },
        },
      ]
    if (maxLength !== undefined && value.length > maxLength)
      return [
        {
          ...fieldError(name, `${name} must be at most ${maxLength} characters`, value),
          issue: { code: 'maxLength', params: { max: maxLength, actual: value.length } },
        },
      ]
    return []
  })
}

/** Combines errors into one: a single error keeps its message, several are counted. */
export function fieldErrors(errors: readonly FieldError[]): Error {
  const details = errors.map(({ issue: _, ...error }) => error)
  return validationError(messageOf(errors), { errors: details }).because(
    errors.map(({ path, message, issue }) => ({ path, message, ...issue })),
  )
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

export type RoleReference = { readonly kind: 'row'; readonly id: number } | { readonly kind: 'document'; readonly documentId: string }

/** All roles that a body names; null for what cannot be one. */
export function rolesNamed(role: unknown): readonly (RoleReference | null)[] {
  if (typeof role !== 'object' || role === null) return [referenceOf(role)]
  const { connect, set, id, documentId } = bodyMembers(role)
  const listed = [connect, set].flatMap((given) => (given === undefined ? [] : listOf(given).map(referenceOf)))
  return id === undefined && documentId === undefined ? listed : [...listed, referenceOf(role)]
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

/** The role that an entry names. As in Strapi, a documentId counts before a row id. */
function referenceOf(entry: unknown): RoleReference | null {
  const isObject = typeof entry === 'object' && entry !== null
  const { id, documentId } = isObject ? bodyMembers(entry) : { id: entry, documentId: undefined }
  if (typeof documentId === 'string' && documentId !== '') return { kind: 'document', documentId }
  const row = rowIdOf(id)
  if (row !== null) return { kind: 'row', id: row }
  return isObject || typeof id !== 'string' || id === '' ? null : { kind: 'document', documentId: id }
}

/** A valid role; null: a change leaves the role as it is. As in Strapi the last one counts, and in a change `set` before `connect`. */
export function readRole(role: unknown, creating: boolean): RoleReference | null {
  const { connect, set, id, documentId } = bodyMembers(role)
  const itself = typeof role !== 'object' || id !== undefined || documentId !== undefined
  const named = !creating && set !== undefined ? listOf(set) : Array.isArray(connect) && connect.length > 0 ? connect : itself ? [role] : []
  return referenceOf(named.at(-1))
}

const typeError = (path: readonly string[], name: string, type: string, value: unknown): FieldError => ({
  ...fieldError('', `${name} must be a \`${type}\` type, but the final value was: \`${printed(value)}\`.`, value),
  path,
  issue: value === null ? { code: 'required' } : { code: 'type', params: { expected: type } },
})

const requiredField = (path: readonly string[], name: string): FieldError => ({
  ...fieldError('', `${name} is a required field`),
  path,
  issue: { code: 'required' },
})

/** The error in one role: a row id, a documentId, or an object with either. */
function referenceErrors(path: readonly string[], name: string, entry: unknown): FieldError[] {
  if (typeof entry !== 'object' || entry === null) return referenceOf(entry) === null ? wrongId(path, name, entry) : []
  const { id, documentId } = bodyMembers(entry)
  if (documentId !== undefined && typeof documentId !== 'string')
    return [typeError([...path, 'documentId'], `${name}.documentId`, 'string', documentId)]
  if (referenceOf(entry) !== null) return []
  return id === undefined ? [requiredField([...path, 'id'], `${name}.id`)] : wrongId([...path, 'id'], `${name}.id`, id)
}

const wrongId = (path: readonly string[], name: string, id: unknown): FieldError[] => [
  typeof id === 'string' ? { ...fieldError('', `${name} must be a valid id`, id), path } : typeError(path, name, 'strapiID', id),
]

/** The error in a role. */
export function roleErrors(role: unknown, creating: boolean): FieldError[] {
  if (typeof role !== 'object') return referenceErrors(['role'], 'role', role)
  if (role === null || Array.isArray(role)) return [typeError(['role'], 'role', 'object', role)]
  const { connect, set, disconnect, id, documentId } = bodyMembers(role)
  if (!creating && set !== undefined) return setErrors(set)
  if (!creating && listOf(connect ?? []).length === 0)
    return id === undefined && documentId === undefined ? disconnectErrors(disconnect) : referenceErrors(['role'], 'role', role)
  if (connect === undefined) return [requiredField(['role', 'connect'], 'role.connect')]
  if (!Array.isArray(connect)) return [typeError(['role', 'connect'], 'role.connect', 'array', connect)]
  if (connect.length === 0)
    return [{ ...fieldError('', 'role.connect field must have at least 1 items', connect), path: ['role', 'connect'] }]
  // The last entry is used, but the first invalid one is reported.
  for (const [index, one] of connect.entries()) {
    const [path, name] = [['role', 'connect', String(index)], `role.connect[${index}]`] as const
    if (typeof one !== 'object' || one === null || Array.isArray(one)) return [typeError(path, name, 'object', one)]
    const found = referenceErrors(path, name, one)
    if (found.length > 0) return found
  }
  return []
}

const removal = (path: readonly string[], value: unknown): FieldError => ({ ...fieldError('', 'Cannot remove role', value), path })

function setErrors(set: unknown): FieldError[] {
  const entries = listOf(set)
  if (entries.length === 0) return [removal(['role', 'set'], set)]
  for (const [index, one] of entries.entries()) {
    const found = referenceErrors(['role', 'set', String(index)], `role.set[${index}]`, one)
    if (found.length > 0) return found
  }
  return []
}

/** A change that only takes roles away would leave none. */
function disconnectErrors(disconnect: unknown): FieldError[] {
  if (!Array.isArray(disconnect) || disconnect.length === 0) return []
  const wrong = disconnect.findIndex((one) => typeof one !== 'object' || one === null)
  const path = ['role', 'disconnect', String(wrong)]
  const typed = wrong === -1 ? [] : [typeError(path, `role.disconnect[${wrong}]`, 'object', disconnect[wrong])]
  return [...typed, removal(['role', 'disconnect'], disconnect)]
}

/** A row id, which may be written as a text; null: it is none. */
function rowIdOf(id: unknown): number | null {
  const number = typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : id
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : null
}

/** Alphabets with letters that look alike. */
const lookAlike = [/\p{Script=Latin}/u, /\p{Script=Cyrillic}/u, /\p{Script=Greek}/u, /\p{Script=Armenian}/u, /\p{Script=Cherokee}/u]

/** Control characters, direction marks, zero-width characters, line separators, and unassigned code points. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/u

/**
 * True if a name is unambiguous: it has no invisible characters, no spaces at its ends, is in the Unicode form NFKC (no full-width
 * letters), and uses at most one of the alphabets that look alike.
 */
export function isUnmistakable(name: string): boolean {
  if (invisible.test(name) || name.trim() !== name || name.normalize('NFKC') !== name) return false
  return lookAlike.filter((alphabet) => alphabet.test(name)).length <= 1
}

/** Returns the members of a body, or an empty object if the body is not an object. */
export const bodyMembers = (body: unknown): Readonly<Record<string, unknown>> =>
  typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Record<string, unknown>) : {}
