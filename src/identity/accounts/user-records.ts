// Creates, changes and deletes users for the API. Bodies have no `data` envelope.

import { scalarColumns } from '../../content/documents/input/attributes.js'
import { attributeErrors, readAttributes } from '../../content/documents/input/input.js'
import { checkUniqueAttributes, valuesForConditions, writeAttributes } from '../../content/documents/user-attributes.js'
import type { RowReader, Transaction } from '../../database/database.js'
import { ApiError, notFound, takenMessage } from '../../foundation/errors/errors.js'
import type { Issue } from '../../foundation/errors/issues.js'
import type { Caller } from '../access/identify.js'
import { type AccountContext, attributeWriting, userTransaction, userType } from './context.js'
import { bodyMembers, checkFields, type Field, fieldError, fieldErrors, messageOf, readRole, roleErrors } from './input.js'
import { ordinaryAttributes } from './sign-in.js'
import { mayTakeIdentifiers } from './user-authority.js'
import type { User } from './users.js'
import { addUser, changeUser, existingRole, isIdentifier, removeUser, setRole, userByEmail, userById, userByName } from './users.js'

/** Creates a user and returns the row id. Validation errors have no details here, as in Strapi. */
export async function createUser(accounts: AccountContext, caller: Caller, body: unknown): Promise<number> {
  const given = bodyMembers(body)
  const form = readUser(body, true)
  const [username, email, password] = [form.username!, form.email!.toLowerCase(), form.password!]
  const role = readRole(given.role, true)!
  const type = userType(accounts)
  const { uniqueEmail } = await accounts.settings()
  const isBounded = !mayTakeIdentifiers(accounts, caller)
  const refuseTaken = async (database: RowReader): Promise<void> => {
    if (uniqueEmail && (await userByEmail(database, email)) !== null) throw taken('Email')
    if (isBounded && (await userByName(database, email)) !== null) throw taken('Email')
  }
  const isTakenName = (database: RowReader) => (isBounded ? isIdentifier(database, username) : userByName(database, username).then(exists))
  await refuseTaken(accounts.database)
  const { input, errors } = readAttributes(accounts.input, type, { ...ordinaryAttributes(given), username, email, password }, true)
  const takenName = { ...fieldError('username', takenMessage), issue: { code: 'unique' } as const }
  const sameName = (await isTakenName(accounts.database)) ? [takenName] : []
  const noRole = await existingRole(accounts.database, role).then(
    () => [],
    (error: Error) => [{ ...fieldError('role', error.message), issue: { code: 'notFound' } as const }],
  )
  if (input === null || sameName.length > 0) {
    const all = [...errors, ...sameName, ...noRole]
    throw aboutFields(messageOf(all), all)
  }
  const columns = await scalarColumns(input, accounts.passwords.hash)
  const { defaultLocale } = accounts
  const add = async (transaction: Transaction): Promise<number> => {
    await refuseTaken(transaction)
    if (await isTakenName(transaction)) throw aboutFields(takenName.message, [takenName])
    await checkUniqueAttributes(attributeWriting(accounts, transaction, defaultLocale), type, '', input)
    const roleId = await existingRole(transaction, role)
    const id = await addUser(transaction, type, { ...columns, provider: 'local' }, roleId, accounts.now())
    await writeAttributes(attributeWriting(accounts, transaction, defaultLocale), type, id, input, true)
    await accounts.watch?.happened(transaction, 'entry.create', id)
    return id
  }
  return userTransaction(accounts, add).catch((error: unknown) => {
    throw error instanceof ApiError && error.name === 'ValidationError'
      ? new ApiError('ApplicationError', error.message).because(error.mistakes ?? [])
      : error
  })
}

/** Changes a user. A new password or blocking invalidates the user's tokens. @throws ApiError 404 */
export async function updateUser(accounts: AccountContext, caller: Caller, id: number, body: unknown): Promise<void> {
  const given = bodyMembers(body)
  const before = await userById(accounts.database, id)
  if (before === null) throw notFound('User not found')
  const form = readUser(body, false)
  const role = given.role === undefined ? null : readRole(given.role, false)
  const type = userType(accounts)
  const email = form.email?.toLowerCase()
  const { uniqueEmail } = await accounts.settings()
  const isBounded = !mayTakeIdentifiers(accounts, caller)
  const refuseTaken = async (database: RowReader): Promise<void> => {
    const { username } = form
    if (username !== undefined && isAnother(await userByName(database, username), id)) throw taken('Username')
    if (email !== undefined && uniqueEmail && isAnother(await userByEmail(database, email), id)) throw taken('Email')
    if (!isBounded) return
    // Unchanged values are not checked again.
    if (username !== undefined && username !== before.username && (await isIdentifier(database, username, id))) throw taken('Username')
    if (email !== undefined && email !== before.email && (await userByName(database, email, id)) !== null) throw taken('Email')
  }
  await refuseTaken(accounts.database)
  const { provider } = given
  const fields = Object.fromEntries(Object.entries({ ...form, email, provider }).filter(([, value]) => value !== undefined))
  const stored = await valuesForConditions(accounts.database, accounts.model, type, id)
  const added = { publishedAt: new Date(accounts.now()).toISOString() }
  const { input, errors } = readAttributes(accounts.input, type, { ...ordinaryAttributes(given), ...fields }, false, stored, added)
  if (input === null) throw attributeErrors(errors)
  const { connect, set } = bodyMembers(given.role)
  const named = role?.kind === 'row' && { role: { [connect === undefined || set !== undefined ? 'set' : 'connect']: [{ id: role.id }] } }
  const columns = await scalarColumns(input, accounts.passwords.hash)
  const { defaultLocale } = accounts
  await userTransaction(accounts, async (transaction) => {
    const now = await userById(transaction, id)
    if (now === null) throw notFound('User not found')
    await refuseTaken(transaction)
    await checkUniqueAttributes(attributeWriting(accounts, transaction, defaultLocale), type, now.document_id ?? '', input)
    if (role !== null) await setRole(transaction, type, id, await existingRole(transaction, role, { ...input.checked, ...named }))
    await changeUser(transaction, id, columns, accounts.now(), form.password !== undefined || columns.blocked === 1)
    await writeAttributes(attributeWriting(accounts, transaction, defaultLocale), type, id, input, false)
    await accounts.watch?.happened(transaction, 'entry.update', id)
  })
}

/** Deletes a user; false if there is none. */
export async function deleteUser(accounts: AccountContext, id: number): Promise<boolean> {
  const { defaultLocale } = accounts
  return userTransaction(accounts, async (transaction) => {
    if ((await userById(transaction, id)) === null) return false
    await accounts.watch?.happened(transaction, 'entry.delete', id)
    await removeUser(attributeWriting(accounts, transaction, defaultLocale), userType(accounts), id, accounts.now())
    return true
  })
}

/** An error about fields whose details do not say so, as in Strapi. */
const aboutFields = (message: string, errors: readonly AboutField[]): ApiError =>
  new ApiError('ApplicationError', message).because(errors.map(({ path, message, issue }) => ({ path, message, ...issue })))

interface AboutField {
  readonly path: readonly (string | number)[]
  readonly message: string
  readonly issue?: Issue
}

function taken(what: 'Email' | 'Username'): ApiError {
  const message = `${what} already taken`
  return aboutFields(message, [{ path: [what.toLowerCase()], message, issue: { code: 'unique' } }])
}

const exists = (found: User | null): boolean => found !== null
const isAnother = (found: { readonly id: number } | null, id: number): boolean => found !== null && found.id !== id

/** Reads the fields of every user; all are required on creation. */
function readUser(body: unknown, creating: boolean) {
  const { role } = bodyMembers(body)
  const field = (name: string, more: Partial<Field>): Field => ({ name, required: creating, ...more })
  const notEmpty = { minLength: 1 }
  const fields = [
    field('email', { email: true, ...(creating ? {} : notEmpty) }),
    field('username', notEmpty),
    field('password', { password: true, ...notEmpty }),
  ]
  const wrongRole = Array.isArray(body)
    ? []
    : role === undefined
      ? creating
        ? [{ ...fieldError('role', 'role is a required field'), issue: { code: 'required' } as const }]
        : []
      : roleErrors(role, creating)
  const { values, errors } = checkFields(body, fields)
  const all = [...errors, ...wrongRole]
  if (all.length > 0) throw fieldErrors(all)
  return values
}
