// Adding, changing and removing users through the API, for callers that have been granted it. Bodies are bare.

import { members } from '../access/body.js'
import type { Caller } from '../access/identify.js'
import type { Transaction } from '../database/database.js'
import { attributeErrors, readAttributes } from '../documents/input/input.js'
import { scalarColumns } from '../documents/store/scalar-columns.js'
import { checkUniqueAttributes, writeAttributes } from '../documents/user-attributes.js'
import { printed } from '../errors/bounded-values.js'
import { ApiError, notFound } from '../errors/errors.js'
import { attributeWriting, type House, userType } from './context.js'
import { type Field, type FormError, formError, messageOf, readForm, wrong } from './input.js'
import { othersOf } from './sign-in.js'
import { mayTakePlaces } from './user-authority.js'
import { addUser, changeUser, checkRole, isIdentifier, removeUser, setRole, type User, userByEmail, userById, userByName } from './users.js'

type Rows = Parameters<typeof userByEmail>[0]

/** Adds a user and gives the row's id. What the model finds wrong comes without its details here, as in Strapi. */
export async function createUser(house: House, caller: Caller, body: unknown): Promise<number> {
  const given = members(body)
  const form = readUser(body, true)
  const [username, email, password] = [form.username!, form.email!.toLowerCase(), form.password!]
  const role = readRole(given.role)!
  const type = userType(house)
  const { uniqueEmail } = await house.settings()
  const isBounded = !mayTakePlaces(house, caller)
  const refuseTaken = async (database: Rows): Promise<void> => {
    if (uniqueEmail && (await userByEmail(database, email)) !== null) throw taken('Email')
    if (isBounded && (await userByName(database, email)) !== null) throw taken('Email')
  }
  const isTakenName = (database: Rows) => (isBounded ? isIdentifier(database, username) : userByName(database, username).then(isThere))
  await refuseTaken(house.database)
  const { input, errors } = readAttributes(house.input(), type, { ...othersOf(given), username, email, password }, true)
  const sameName = (await isTakenName(house.database)) ? [wrong('username', 'This attribute must be unique')] : []
  const noRole = await checkRole(house.database, role).then(
    () => [],
    (error: Error) => [wrong('role', error.message)],
  )
  if (input === null || sameName.length > 0) throw new ApiError('ApplicationError', messageOf([...errors, ...sameName, ...noRole]))
  const columns = await scalarColumns(input, house.passwords.hash)
  const defaultLocale = await house.defaultLocale()
  const add = async (transaction: Transaction): Promise<number> => {
    await refuseTaken(transaction)
    if (await isTakenName(transaction)) throw new ApiError('ApplicationError', 'This attribute must be unique')
    await checkUniqueAttributes(attributeWriting(house, transaction, defaultLocale), type, '', input)
    await checkRole(transaction, role)
    const id = await addUser(transaction, type, { ...columns, provider: 'local' }, role, house.now())
    await writeAttributes(attributeWriting(house, transaction, defaultLocale), type, id, input, true)
    return id
  }
  return house.writer.transaction(add).catch((error: unknown) => {
    throw error instanceof ApiError && error.name === 'ValidationError' ? new ApiError('ApplicationError', error.message) : error
  })
}

/** Changes a user. A new password and blocking void what was issued to the user. @throws ApiError 404 */
export async function updateUser(house: House, caller: Caller, id: number, body: unknown): Promise<void> {
  const given = members(body)
  const before = await userById(house.database, id)
  if (before === null) throw notFound('User not found')
  const form = readUser(body, false)
  const role = given.role === undefined ? null : readRole(given.role)
  const type = userType(house)
  const email = form.email?.toLowerCase()
  const { uniqueEmail } = await house.settings()
  const isBounded = !mayTakePlaces(house, caller)
  const refuseTaken = async (database: Rows): Promise<void> => {
    const { username } = form
    if (username !== undefined && isAnother(await userByName(database, username), id)) throw taken('Username')
    if (email !== undefined && uniqueEmail && isAnother(await userByEmail(database, email), id)) throw taken('Email')
    if (!isBounded) return
    // What stays as it is takes nobody's place anew.
    if (username !== undefined && username !== before.username && (await isIdentifier(database, username, id))) throw taken('Username')
    if (email !== undefined && email !== before.email && (await userByName(database, email, id)) !== null) throw taken('Email')
  }
  await refuseTaken(house.database)
  const fields = Object.fromEntries(Object.entries({ ...form, email }).filter(([, value]) => value !== undefined))
  const { input, errors } = readAttributes(house.input(), type, { ...othersOf(given), ...fields }, false)
  if (input === null) throw attributeErrors(errors)
  const columns = await scalarColumns(input, house.passwords.hash)
  if (typeof given.provider === 'string') columns.provider = given.provider
  const defaultLocale = await house.defaultLocale()
  await house.writer.transaction(async (transaction) => {
    const now = await userById(transaction, id)
    if (now === null) throw notFound('User not found')
    await refuseTaken(transaction)
    await checkUniqueAttributes(attributeWriting(house, transaction, defaultLocale), type, now.document_id ?? '', input)
    if (role !== null) {
      await checkRole(transaction, role)
      await setRole(transaction, id, role)
    }
    await changeUser(transaction, id, columns, house.now(), form.password !== undefined || columns.blocked === 1)
    await writeAttributes(attributeWriting(house, transaction, defaultLocale), type, id, input, false)
  })
}

/** Removes a user; false where there is none. */
export async function deleteUser(house: House, id: number): Promise<boolean> {
  const defaultLocale = await house.defaultLocale()
  return house.writer.transaction(async (transaction) => {
    if ((await userById(transaction, id)) === null) return false
    await removeUser(attributeWriting(house, transaction, defaultLocale), userType(house), id, house.now())
    return true
  })
}

const taken = (what: string): ApiError => new ApiError('ApplicationError', `${what} already taken`)
const isThere = (found: User | null): boolean => found !== null
const isAnother = (found: { readonly id: number } | null, id: number): boolean => found !== null && found.id !== id

/** The fields that every user has; all of them on creation. */
function readUser(body: unknown, creating: boolean) {
  const { role } = members(body)
  const field = (name: string, more: Partial<Field>): Field => ({ name, required: creating, ...more })
  const least = { least: 1 }
  const fields = [
    field('email', { email: true, ...(creating ? {} : least) }),
    field('username', least),
    field('password', { password: true, ...least }),
  ]
  const wrongRole = Array.isArray(body)
    ? []
    : role === undefined
      ? creating
        ? [wrong('role', 'role is a required field')]
        : []
      : roleErrors(role)
  try {
    const form = readForm(body, fields)
    if (wrongRole.length > 0) throw formError(wrongRole)
    return form
  } catch (error) {
    const found = error instanceof ApiError ? error.details?.errors : undefined
    if (!Array.isArray(found) || found === wrongRole) throw error
    throw formError([...found, ...wrongRole])
  }
}

/** What is wrong with a role: it is an id, or `{ connect: [{ id }] }`. */
function roleErrors(role: unknown): FormError[] {
  const typeError = (path: readonly string[], name: string, type: string, value: unknown): FormError => ({
    ...wrong('', `${name} must be a \`${type}\` type, but the final value was: \`${printed(value)}\`.`, value),
    path,
  })
  const required = (path: readonly string[], name: string): FormError => ({ ...wrong('', `${name} is a required field`), path })
  const idErrors = (path: readonly string[], name: string, id: unknown): FormError[] =>
    rowIdOf(id) !== null
      ? []
      : [typeof id === 'string' ? { ...wrong('', `${name} must be a valid id`, id), path } : typeError(path, name, 'strapiID', id)]
  if (typeof role !== 'object') return idErrors(['role'], 'role', role)
  if (role === null || Array.isArray(role)) return [typeError(['role'], 'role', 'object', role)]
  const { connect } = members(role)
  if (connect === undefined) return [required(['role', 'connect'], 'role.connect')]
  if (!Array.isArray(connect)) return [typeError(['role', 'connect'], 'role.connect', 'array', connect)]
  if (connect.length === 0) return [{ ...wrong('', 'role.connect field must have at least 1 items', connect), path: ['role', 'connect'] }]
  // The last one counts; the first that is wrong is told.
  for (const [index, one] of connect.entries()) {
    const [path, name] = [['role', 'connect', String(index)], `role.connect[${index}]`] as const
    if (typeof one !== 'object' || one === null || Array.isArray(one)) return [typeError(path, name, 'object', one)]
    const { id } = members(one)
    const found = id === undefined ? [required([...path, 'id'], `${name}.id`)] : idErrors([...path, 'id'], `${name}.id`, id)
    if (found.length > 0) return found
  }
  return []
}

/** The row id of a role that `roleErrors` found nothing wrong with. */
function readRole(given: unknown): number {
  const { connect } = members(given)
  return rowIdOf(Array.isArray(connect) ? members(connect.at(-1)).id : given)!
}

function rowIdOf(id: unknown): number | null {
  const number = typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : id
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : null
}
