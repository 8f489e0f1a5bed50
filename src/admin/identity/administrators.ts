// Rows of administrators (admin_users), which Strapi's panel shares. Callers check who may change them.

import { sql } from 'kysely'
import { insertRow, newEntry, updateRow } from '../../content/documents/store/rows.js'
import type { RowReader, Transaction } from '../../database/database.js'
import { hasColumns } from '../../database/database.js'
import { type BoundRow, bindTimestamp } from '../../database/portable-sql.js'
import { ApiError } from '../../foundation/errors/errors.js'
import type { Issue } from '../../foundation/errors/issues.js'
import { endSessions, type SessionOwner } from '../../identity/access/sessions.js'
import { revokeOneTimeTokens } from '../../identity/accounts/one-time-tokens.js'
import { longestPassword } from '../../identity/accounts/passwords.js'

/** The role of super administrators, which may do everything regardless of its permissions. */
export const superAdminCode = 'strapi-super-admin'

/** The columns of admin_users that the administration uses. */
export interface AdministratorRow {
  readonly id: number
  readonly document_id: string | null
  readonly firstname: string | null
  readonly lastname: string | null
  readonly email: string | null
  readonly password: string | null
  readonly is_active: number | null
  readonly blocked: number | null
  readonly prefered_language: string | null
}

/** The personal data of a row in responses. */
export const toPerson = (row: AdministratorRow) => ({
  id: row.id,
  documentId: row.document_id,
  email: row.email ?? '',
  firstname: row.firstname,
  lastname: row.lastname,
  language: row.prefered_language,
})

/** The owner of the sessions of an administrator. */
export const sessionOwner = (id: number): SessionOwner => ({ origin: 'admin', id })

/** A role of administrators. */
export interface AdministratorRole {
  readonly id: number
  readonly code: string
  readonly name: string
}

const columns = ['id', 'document_id', 'firstname', 'lastname', 'email', 'password', 'is_active', 'blocked', 'prefered_language'] as const

/** The columns of `admin_users`, with the alias `u`. */
export const administratorColumns = sql.join(columns.map((name) => sql.ref(`u.${name}`)))

/** True if an administrator may sign in. */
export const isActive = ({ is_active, blocked }: Pick<AdministratorRow, 'is_active' | 'blocked'>): boolean =>
  is_active === 1 && blocked !== 1

/** Returns the administrator with this id, or null. */
export async function administratorById(database: RowReader, id: number): Promise<AdministratorRow | null> {
  const [row = null] = await database.rows<AdministratorRow>(sql`select ${administratorColumns} from admin_users u where u.id = ${id}`)
  return row
}

/**
 * Returns the administrator with this address, ignoring case, or null. Compared again in JavaScript, because collations may ignore
 * accents.
 */
export async function administratorByEmail(database: RowReader, email: string): Promise<AdministratorRow | null> {
  const address = email.toLowerCase()
  const rows = await database.rows<AdministratorRow>(
    sql`select ${administratorColumns} from admin_users u where lower(u.email) = ${address} order by u.id`,
  )
  return rows.find((row) => row.email?.toLowerCase() === address) ?? null
}

/** True if there is any administrator, active or not. */
export const anyAdministrator = async (database: RowReader): Promise<boolean> =>
  (await database.rows(sql`select id from admin_users limit 1`)).length > 0

/** Returns the roles of an administrator in their order. */
export function readRoles(database: RowReader, id: number): Promise<readonly AdministratorRole[]> {
  return database.rows<AdministratorRole>(sql`select r.id, r.code, r.name from admin_users_roles_lnk l
    join admin_roles r on r.id = l.role_id where l.user_id = ${id} order by l.role_ord, r.id`)
}

/** An administrator who may sign in, apart from any session. */
interface ActiveAdministrator {
  readonly id: number
  readonly email: string
  readonly roles: readonly AdministratorRole[]
  readonly isSuperAdmin: boolean
}

/** Returns an administrator who may sign in, with the current roles; null: deleted, blocked, or not active. */
export async function activeAdministrator(database: RowReader, id: number): Promise<ActiveAdministrator | null> {
  const row = await administratorById(database, id)
  if (row === null || !isActive(row)) return null
  const roles = await readRoles(database, id)
  return { id, email: row.email ?? '', roles, isSuperAdmin: roles.some(({ code }) => code === superAdminCode) }
}

const requiredTables = [
  'admin_users',
  'admin_roles',
  'admin_users_roles_lnk',
  'admin_permissions',
  'admin_permissions_role_lnk',
  'strapi_sessions',
]

/** Returns the missing tables of administrators. A new database has all; one created by an old Strapi may lack some. */
export async function missingTables(database: RowReader): Promise<readonly string[]> {
  const missing: string[] = []
  for (const table of requiredTables) {
    // An unavailable database fails here, instead of seeming to have no tables.
    await database.rows(sql`select 1 as one`)
    if (!(await hasColumns(database, table))) missing.push(table)
  }
  return missing
}

export interface NewAdministrator {
  readonly email: string
  readonly firstname: string
  readonly lastname: string | null
  /** Hashed; null for an invitation. */
  readonly password: string | null
  /** Row ids of roles. */
  readonly roles: readonly number[]
}

const shortestPassword = 8

/** What a new password must have by the rules of Strapi's panel, with the regular expressions. */
const passwordParts = [
  [/[a-z]/, 'a lower-case letter'],
  [/[A-Z]/, 'an upper-case letter'],
  [/\d/, 'a digit'],
] as const

/** Returns the error of a new password by the rules of Strapi's panel, or null. */
export function passwordError(password: string): (Issue & { readonly message: string }) | null {
  const min = shortestPassword
  if (password.length < min) return { message: `The password must have at least ${min} characters`, code: 'minLength', params: { min } }
  const missing = passwordParts.find(([pattern]) => !pattern.test(password))
  if (missing !== undefined)
    return { message: `The password must have ${missing[1]}`, code: 'pattern', params: { pattern: missing[0].source } }
  if (Buffer.byteLength(password) <= longestPassword) return null
  return { message: 'The password must be less than 73 bytes', code: 'maxLength', params: { max: longestPassword } }
}

/** Creates an administrator, who is active if there is a password. @throws ApiError 400 for an address that is taken */
export async function addAdministrator(transaction: Transaction, given: NewAdministrator, now: number): Promise<number> {
  const email = given.email.toLowerCase()
  await checkEmailAvailable(transaction, email, null)
  const id = await insertRow(transaction, 'admin_users', {
    ...newEntry(now),
    email,
    firstname: given.firstname,
    lastname: given.lastname,
    password: given.password,
    is_active: Number(given.password !== null),
    blocked: 0,
  })
  await setRoles(transaction, id, given.roles)
  return id
}

/** @throws ApiError 400 if another administrator has the address */
export async function checkEmailAvailable(database: RowReader, email: string, except: number | null): Promise<void> {
  const found = await administratorByEmail(database, email)
  if (found !== null && found.id !== except) {
    const message = 'This email address is already taken'
    throw new ApiError('ApplicationError', message).because([{ path: ['email'], message, code: 'unique' }])
  }
}

/** Replaces the roles of an administrator. */
export async function setRoles(transaction: Transaction, id: number, roles: readonly number[]): Promise<void> {
  await transaction.run(sql`delete from admin_users_roles_lnk where user_id = ${id}`)
  for (const [index, role] of roles.entries())
    await transaction.run(sql`insert into admin_users_roles_lnk (user_id, role_id, role_ord, user_ord)
      select ${id}, ${role}, ${index + 1}, coalesce(max(user_ord), 0) + 1 from admin_users_roles_lnk where role_id = ${role}`)
}

/** Changes columns of an administrator. `ends`: also ends all sessions. A new address, password or blocked state invalidates codes. */
export async function changeAdministrator(
  transaction: Transaction,
  id: number,
  values: BoundRow,
  now: number,
  ends = false,
): Promise<void> {
  await updateRow(transaction, 'admin_users', id, { ...values, updated_at: bindTimestamp(now) })
  if (!ends) return
  await revokeOneTimeTokens(transaction, id, 'admin_users')
  await endSessions(transaction, sessionOwner(id))
}

/** Sets a hashed password, activates the account, and ends its sessions. */
export const setPassword = (transaction: Transaction, id: number, password: string, now: number): Promise<void> =>
  changeAdministrator(transaction, id, { password, is_active: 1, reset_password_token: null, registration_token: null }, now, true)

/** Deletes an administrator and its sessions. Content remains, without the name of the author. */
export async function removeAdministrator(transaction: Transaction, id: number): Promise<void> {
  await revokeOneTimeTokens(transaction, id, 'admin_users')
  await endSessions(transaction, sessionOwner(id))
  await transaction.run(sql`delete from octavo_views where administrator_id = ${id} and visibility = 'mine'`)
  await transaction.run(sql`delete from admin_users_roles_lnk where user_id = ${id}`)
  await transaction.run(sql`delete from admin_users where id = ${id}`)
}

/** Checks that another active super administrator would remain. @throws ApiError 400 for the last super administrator who may sign in */
export async function checkNotLast(database: RowReader, id: number): Promise<void> {
  const active = await database.rows<{ id: number }>(sql`select u.id from admin_users u join admin_users_roles_lnk l on l.user_id = u.id
    join admin_roles r on r.id = l.role_id where r.code = ${superAdminCode} and u.is_active = ${1} and coalesce(u.blocked, ${0}) = ${0}`)
  if (active.length > 0 && active.every((one) => one.id === id))
    throw new ApiError('ApplicationError', 'The last super administrator must stay, active and with this role')
}
