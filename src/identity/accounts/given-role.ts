// The role in a body about a user: a row id or documentId, `{ id }` or `{ documentId }`, or such ones in `connect` and `set`.

import { printed } from '../../foundation/errors/bounded-values.js'
import { bodyMembers } from '../access/body.js'
import { type FieldError, fieldError } from './input.js'

/** How a body names a role. */
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
})

const required = (path: readonly string[], name: string): FieldError => ({ ...fieldError('', `${name} is a required field`), path })

/** What is wrong with one role: a row id, a documentId, or an object with either. */
function referenceErrors(path: readonly string[], name: string, entry: unknown): FieldError[] {
  if (typeof entry !== 'object' || entry === null) return referenceOf(entry) === null ? wrongId(path, name, entry) : []
  const { id, documentId } = bodyMembers(entry)
  if (documentId !== undefined && typeof documentId !== 'string')
    return [typeError([...path, 'documentId'], `${name}.documentId`, 'string', documentId)]
  if (referenceOf(entry) !== null) return []
  return id === undefined ? [required([...path, 'id'], `${name}.id`)] : wrongId([...path, 'id'], `${name}.id`, id)
}

const wrongId = (path: readonly string[], name: string, id: unknown): FieldError[] => [
  typeof id === 'string' ? { ...fieldError('', `${name} must be a valid id`, id), path } : typeError(path, name, 'strapiID', id),
]

/** What is wrong with a role. */
export function roleErrors(role: unknown, creating: boolean): FieldError[] {
  if (typeof role !== 'object') return referenceErrors(['role'], 'role', role)
  if (role === null || Array.isArray(role)) return [typeError(['role'], 'role', 'object', role)]
  const { connect, set, disconnect, id, documentId } = bodyMembers(role)
  if (!creating && set !== undefined) return setErrors(set)
  if (!creating && listOf(connect ?? []).length === 0)
    return id === undefined && documentId === undefined ? disconnectErrors(disconnect) : referenceErrors(['role'], 'role', role)
  if (connect === undefined) return [required(['role', 'connect'], 'role.connect')]
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
