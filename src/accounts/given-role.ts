// The role in a body about a user: an id, `{ connect: [{ id }] }`, or in a change `{ set: [id] }`.
import { bodyMembers } from '../access/body.js'
import { printed } from '../errors/bounded-values.js'
import { type FieldError, fieldError } from './input.js'

/** All ids that a role names, as they are given. */
export function rolesNamed(role: unknown): readonly unknown[] {
  if (typeof role !== 'object' || role === null) return [role]
  const { connect, set } = bodyMembers(role)
  return [connect, set].flatMap((ids) => (ids === undefined ? [] : listOf(ids).map(idOf)))
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value])

const idOf = (entry: unknown): unknown => (typeof entry === 'object' && entry !== null ? bodyMembers(entry).id : entry)

/** The row id of a valid role; null: a change leaves the role as it is. As in Strapi the last one counts, and in a change `set` before `connect`. */
export function readRole(role: unknown, creating: boolean): number | null {
  const { connect, set } = bodyMembers(role)
  const ids = !creating && set !== undefined ? listOf(set) : Array.isArray(connect) ? connect : typeof role === 'object' ? [] : [role]
  return rowIdOf(idOf(ids.at(-1)))
}

const typeError = (path: readonly string[], name: string, type: string, value: unknown): FieldError => ({
  ...fieldError('', `${name} must be a \`${type}\` type, but the final value was: \`${printed(value)}\`.`, value),
  path,
})

const required = (path: readonly string[], name: string): FieldError => ({ ...fieldError('', `${name} is a required field`), path })

const idErrors = (path: readonly string[], name: string, id: unknown): FieldError[] =>
  rowIdOf(id) !== null
    ? []
    : [typeof id === 'string' ? { ...fieldError('', `${name} must be a valid id`, id), path } : typeError(path, name, 'strapiID', id)]

/** What is wrong with a role. */
export function roleErrors(role: unknown, creating: boolean): FieldError[] {
  if (typeof role !== 'object') return idErrors(['role'], 'role', role)
  if (role === null || Array.isArray(role)) return [typeError(['role'], 'role', 'object', role)]
  const { connect, set, disconnect } = bodyMembers(role)
  if (!creating && set !== undefined) return setErrors(set)
  if (!creating && listOf(connect ?? []).length === 0) return disconnectErrors(disconnect)
  if (connect === undefined) return [required(['role', 'connect'], 'role.connect')]
  if (!Array.isArray(connect)) return [typeError(['role', 'connect'], 'role.connect', 'array', connect)]
  if (connect.length === 0)
    return [{ ...fieldError('', 'role.connect field must have at least 1 items', connect), path: ['role', 'connect'] }]
  // The last entry is used, but the first invalid one is reported.
  for (const [index, one] of connect.entries()) {
    const [path, name] = [['role', 'connect', String(index)], `role.connect[${index}]`] as const
    if (typeof one !== 'object' || one === null || Array.isArray(one)) return [typeError(path, name, 'object', one)]
    const { id } = bodyMembers(one)
    const found = id === undefined ? [required([...path, 'id'], `${name}.id`)] : idErrors([...path, 'id'], `${name}.id`, id)
    if (found.length > 0) return found
  }
  return []
}

const removal = (path: readonly string[], value: unknown): FieldError => ({ ...fieldError('', 'Cannot remove role', value), path })

function setErrors(set: unknown): FieldError[] {
  const ids = listOf(set).map(idOf)
  if (ids.length === 0) return [removal(['role', 'set'], set)]
  const wrong = ids.findIndex((id) => rowIdOf(id) === null)
  return wrong === -1 ? [] : idErrors(['role', 'set', String(wrong)], `role.set[${wrong}]`, ids[wrong])
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
export function rowIdOf(id: unknown): number | null {
  const number = typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : id
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : null
}
