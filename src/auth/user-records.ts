// Adding, changing and removing users through the API, for callers that have been granted it. Bodies are bare.
import type { Stored } from '../documents/rows.js'
import { ApiError, notFound, validationError } from '../errors.js'
import type { ContentType } from '../model/types.js'
import { checkLengths, type Field, formError, lengthErrors, members, messageOf, readForm, wrong } from './form.js'
import { type House, userType } from './house.js'
import { hashPassword } from './passwords.js'
import { addUser, asColumn, changeUser, checkRole, removeUser, setRole, userByEmail, userById, userByName } from './users.js'

/** What a caller cannot set, or what is set in its own way. */
const own = new Set(['username', 'email', 'password', 'role', 'provider', 'resetPasswordToken', 'confirmationToken'])

/** Adds a user and gives the row's id. */
export async function createUser(house: House, body: unknown): Promise<number> {
  const given = members(body)
  const form = readUser(given, true)
  const [username, email, password] = [form.username!, form.email!.toLowerCase(), form.password!]
  const role = readRole(given.role)!
  const type = userType(house)
  const { uniqueEmail } = await house.settings()
  const taken = async (database: Parameters<typeof userByEmail>[0]) => uniqueEmail && (await userByEmail(database, email)) !== null
  if (await taken(house.database)) throw new ApiError('ApplicationError', 'Email already taken')
  const others = readOthers(type, given)
  await refuseAsStrapi(house, type, { email, username, password, ...others.given })
  const hashed = await hashPassword(password)
  return house.writer.transaction(async (transaction) => {
    if (await taken(transaction)) throw new ApiError('ApplicationError', 'Email already taken')
    if ((await userByName(transaction, username)) !== null) throw new ApiError('ApplicationError', 'This attribute must be unique')
    await checkRole(transaction, role)
    const values = { ...others.columns, username, email, provider: 'local', password: hashed }
    return addUser(transaction, type, values, role, house.now())
  })
}

/** What the model finds wrong comes without its details here. */
async function refuseAsStrapi(house: House, type: ContentType, values: Readonly<Record<string, unknown>>): Promise<void> {
  const errors = [...lengthErrors(type, values)]
  if ((await userByName(house.database, String(values.username))) !== null) errors.push(wrong('username', 'This attribute must be unique'))
  if (errors.length > 0) throw new ApiError('ApplicationError', messageOf(errors))
}

/** Changes a user. A new password and blocking void what was issued to the user. @throws ApiError 404 */
export async function updateUser(house: House, id: number, body: unknown): Promise<void> {
  const given = members(body)
  const before = await userById(house.database, id)
  if (before === null) throw notFound('User not found')
  const form = readUser(given, false)
  const role = given.role === undefined ? null : readRole(given.role)
  const type = userType(house)
  const others = readOthers(type, given)
  const email = form.email?.toLowerCase()
  const { uniqueEmail } = await house.settings()
  const values: Record<string, Stored> = { ...others.columns }
  if (form.username !== undefined) values.username = form.username
  if (email !== undefined) values.email = email
  if (typeof given.provider === 'string') values.provider = given.provider
  if (form.username !== undefined && isAnother(await userByName(house.database, form.username), id)) throw taken('Username')
  if (email !== undefined && uniqueEmail && isAnother(await userByEmail(house.database, email), id)) throw taken('Email')
  checkLengths(type, { email, username: form.username, password: form.password, ...others.given })
  if (form.password !== undefined) values.password = await hashPassword(form.password)
  await house.writer.transaction(async (transaction) => {
    if ((await userById(transaction, id)) === null) throw notFound('User not found')
    if (form.username !== undefined && isAnother(await userByName(transaction, form.username), id)) throw taken('Username')
    if (email !== undefined && uniqueEmail && isAnother(await userByEmail(transaction, email), id)) throw taken('Email')
    if (role !== null) {
      await checkRole(transaction, role)
      await setRole(transaction, id, role)
    }
    await changeUser(transaction, id, values, house.now(), form.password !== undefined || values.blocked === 1)
  })
}

/** Removes a user; false where there is none. */
export function deleteUser(house: House, id: number): Promise<boolean> {
  return house.writer.transaction(async (transaction) => {
    if ((await userById(transaction, id)) === null) return false
    await removeUser(transaction, id, house.now())
    return true
  })
}

const taken = (what: string): ApiError => new ApiError('ApplicationError', `${what} already taken`)
const isAnother = (found: { readonly id: number } | null, id: number): boolean => found !== null && found.id !== id

/** The fields that every user has; all of them on creation. */
function readUser(given: Readonly<Record<string, unknown>>, creating: boolean) {
  const field = (name: string, more: Partial<Field>): Field => ({ name, required: creating, ...(creating ? {} : { least: 1 }), ...more })
  const fields = [field('email', { email: true }), field('username', {}), field('password', { password: true })]
  const missing = creating && (given.role === undefined || given.role === null) ? [wrong('role', 'role is a required field')] : []
  try {
    const form = readForm(given, fields)
    if (missing.length > 0) throw formError(missing)
    return form
  } catch (error) {
    const found = error instanceof ApiError ? error.details?.errors : undefined
    if (!Array.isArray(found) || found[0] === missing[0]) throw error
    throw formError([...found, ...missing])
  }
}

/** The row id of a role: itself, or the one that is connected. */
function readRole(given: unknown): number {
  const { connect, set } = members(given)
  const list = Array.isArray(given) ? given : (connect ?? set)
  const one = Array.isArray(list) ? list.at(-1) : given
  const id = typeof one === 'object' && one !== null ? (one as { id?: unknown }).id : one
  const number = typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : id
  if (typeof number === 'number' && Number.isSafeInteger(number) && number > 0) return number
  throw formError([wrong('role', 'role must be a valid id', given)])
}

/** Scalars of the model beside the usual ones, as given and as columns. Unknown names are ignored. */
function readOthers(type: ContentType, given: Readonly<Record<string, unknown>>) {
  const columns: Record<string, Stored> = {}
  const found: Record<string, unknown> = {}
  for (const attribute of type.attributes.values()) {
    const value = Object.hasOwn(given, attribute.name) ? given[attribute.name] : undefined
    if (attribute.kind !== 'scalar' || attribute.system || own.has(attribute.name) || value === undefined) continue
    if (attribute.type === 'boolean' && value !== null && typeof value !== 'boolean') {
      throw validationError(`${attribute.name} must be a \`boolean\` type, but the final value was: \`${JSON.stringify(value)}\`.`)
    }
    if (typeof value === 'object' && value !== null && attribute.type !== 'json' && attribute.type !== 'blocks') {
      throw validationError(
        `${attribute.name} must be a \`${attribute.type}\` type, but the final value was: \`${JSON.stringify(value)}\`.`,
      )
    }
    found[attribute.name] = value
    const dated = attribute.type === 'datetime' && typeof value === 'string'
    columns[attribute.column] = dated ? new Date(value).getTime() : asColumn(value)
  }
  return { given: found, columns }
}
