// Accounts of administrators: what creates, changes and deletes rows of admin_users. Who may do so is checked by the callers.
import { sql } from 'kysely'
import { insertRow, updateRow } from '../../content/documents/store/rows.js'
import type { RowReader, Transaction } from '../../database/database.js'
import type { Stored } from '../../database/portable-sql.js'
import { ApiError } from '../../foundation/errors/errors.js'
import { endSessions } from '../../identity/access/sessions.js'
import { revokeOneTimeTokens } from '../../identity/accounts/one-time-tokens.js'
import { longestPassword } from '../../identity/accounts/passwords.js'
import { newDocumentId } from '../../model/schema/document-id.js'
import { administratorByEmail, superAdminCode } from './administrators.js'
import { ofAdministrator } from './sign-in.js'

/** The values of a new administrator. */
export interface NewAdministrator {
  readonly email: string
  readonly firstname: string
  readonly lastname: string | null
  /** Hashed; null for an invitation, which is accepted with one. */
  readonly password: string | null
  /** Row ids of roles. */
  readonly roles: readonly number[]
}

/** Returns what is wrong with a new password, by the rules of Strapi's panel; null if nothing is. */
export function passwordProblem(password: string): string | null {
  if (password.length < 8) return 'The password must have at least 8 characters'
  if (!/[a-z]/.test(password)) return 'The password must have a lower-case letter'
  if (!/[A-Z]/.test(password)) return 'The password must have an upper-case letter'
  if (!/\d/.test(password)) return 'The password must have a digit'
  return Buffer.byteLength(password) > longestPassword ? 'The password must be less than 73 bytes' : null
}

/** Creates an administrator, who is active if there is a password. @throws ApiError 400 for an address that is taken */
export async function addAdministrator(transaction: Transaction, given: NewAdministrator, now: number): Promise<number> {
  const email = given.email.toLowerCase()
  await checkFree(transaction, email, null)
  const id = await insertRow(transaction, 'admin_users', {
    document_id: newDocumentId(),
    ...{ email, firstname: given.firstname, lastname: given.lastname, password: given.password },
    ...{ is_active: Number(given.password !== null), blocked: 0 },
    ...{ created_at: now, updated_at: now, published_at: now },
  })
  await setRoles(transaction, id, given.roles)
  return id
}

/** @throws ApiError 400 if another administrator has the address */
export async function checkFree(database: RowReader, email: string, except: number | null): Promise<void> {
  const found = await administratorByEmail(database, email)
  if (found !== null && found.id !== except) throw new ApiError('ApplicationError', 'This email address is already taken')
}

/** Replaces the roles of an administrator. */
export async function setRoles(transaction: Transaction, id: number, roles: readonly number[]): Promise<void> {
  await transaction.run(sql`delete from admin_users_roles_lnk where user_id = ${id}`)
  for (const [index, role] of roles.entries())
    await transaction.run(sql`insert into admin_users_roles_lnk (user_id, role_id, role_ord, user_ord)
      select ${id}, ${role}, ${index + 1}, coalesce(max(user_ord), 0) + 1 from admin_users_roles_lnk where role_id = ${role}`)
}

/**
 * Changes columns of an administrator. `ends`: also ends all sessions. A new address, password or blocked state makes codes void, which are
 * bound to them.
 */
export async function changeAdministrator(
  transaction: Transaction,
  id: number,
  values: Readonly<Record<string, Stored>>,
  now: number,
  ends = false,
): Promise<void> {
  await updateRow(transaction, 'admin_users', id, { ...values, updated_at: now })
  if (!ends) return
  await revokeOneTimeTokens(transaction, id, 'admin_users')
  await endSessions(transaction, ofAdministrator(id), { deviceId: null })
}

/** Sets a hashed password; the account becomes active, its sessions end. */
export const setPassword = (transaction: Transaction, id: number, password: string, now: number): Promise<void> =>
  changeAdministrator(transaction, id, { password, is_active: 1, reset_password_token: null, registration_token: null }, now, true)

/** Deletes an administrator with its sessions. What it wrote stays, without its name. */
export async function removeAdministrator(transaction: Transaction, id: number): Promise<void> {
  await revokeOneTimeTokens(transaction, id, 'admin_users')
  await endSessions(transaction, ofAdministrator(id), { deviceId: null })
  await transaction.run(sql`delete from admin_users_roles_lnk where user_id = ${id}`)
  await transaction.run(sql`delete from admin_users where id = ${id}`)
}

/**
 * Checks that somebody else could still do everything without this administrator.
 * @throws ApiError 400 for the last super administrator who may sign in
 */
export async function checkNotLast(database: RowReader, id: number): Promise<void> {
  const active = await database.rows<{ id: number }>(sql`select u.id from admin_users u join admin_users_roles_lnk l on l.user_id = u.id
    join admin_roles r on r.id = l.role_id where r.code = ${superAdminCode} and u.is_active = ${1} and coalesce(u.blocked, ${0}) = ${0}`)
  if (active.length > 0 && active.every((one) => one.id === id))
    throw new ApiError('ApplicationError', 'The last super administrator must stay, active and with this role')
}
