// Administrators managed by administrators: listed, invited, changed, blocked, deleted; and their own names.

import { sql } from 'kysely'
import type { RowReader, Transaction } from '../../database/database.js'
import type { Stored } from '../../database/portable-sql.js'
import { ApiError, notFound, validationError } from '../../foundation/errors/errors.js'
import { createOneTimeToken } from '../../identity/accounts/one-time-tokens.js'
import { type ActingAdministrator, doAction } from '../activity.js'
import type { Administration } from '../context.js'
import {
  type AdministratorRole,
  type AdministratorRow,
  addAdministrator,
  administratorById,
  administratorColumns,
  changeAdministrator,
  checkEmailAvailable,
  checkNotLast,
  readRoles,
  removeAdministrator,
  setRoles,
} from './administrators.js'
import { createEmail, pageUrl } from './emails.js'
import type { Administrator } from './identify.js'
import { invitationLifespan } from './recovery.js'

/** An administrator with its roles. */
export interface AdminUser {
  readonly row: AdministratorRow
  readonly roles: readonly AdministratorRole[]
}

/** An invitation. Its link is shown once. */
export interface Invitation {
  readonly link: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

/** The managing administrator. */
interface Manager {
  readonly administrator: Administrator
  readonly actor: ActingAdministrator
}

interface NewInvitation {
  readonly email: string
  readonly firstname: string
  readonly lastname: string | null
  readonly roles: readonly number[]
  readonly sendsEmail: boolean
}

/** Returns an administrator. @throws ApiError 404 */
export async function readAdminUser(database: RowReader, id: number): Promise<AdminUser> {
  const row = await administratorById(database, id)
  if (row === null) throw notFound('Administrator not found')
  return { row, roles: await readRoles(database, id) }
}

/** Creates an administrator, who chooses a password with the code of the invitation. @throws ApiError 400, 403 */
export async function inviteAdministrator(
  administration: Administration,
  { administrator, actor }: Manager,
  given: NewInvitation,
): Promise<{ readonly id: number; readonly invitation: Invitation }> {
  const { id, code, invitation } = await doAction(administration, actor, async (transaction, now) => {
    await checkRolesGrantable(transaction, administrator, given.roles)
    const made = await addAdministrator(transaction, { ...given, password: null }, now)
    const invited = await invite(administration, transaction, made, now)
    const name = given.email.toLowerCase()
    return [
      { action: 'create', subject: 'administrator', id: String(made), name, responseData: invited.invitation },
      { id: made, ...invited },
    ]
  })
  if (given.sendsEmail) sendInvitation(administration, given.email, code)
  return { id, invitation }
}

/**
 * Creates a new code for an administrator who has not accepted the invitation, and invalidates the former one.
 * @throws ApiError 400, 403, 404
 */
export async function inviteAgain(
  administration: Administration,
  { administrator, actor }: Manager,
  id: number,
  sendsEmail: boolean,
): Promise<Invitation> {
  const { code, email, invitation } = await doAction(administration, actor, async (transaction, now) => {
    const { row, roles } = await readAdminUser(transaction, id)
    checkMayManage(administrator, roles)
    if (row.password !== null) throw new ApiError('ApplicationError', 'This administrator has a password already')
    const invited = await invite(administration, transaction, id, now)
    const act = { action: 'invite', subject: 'administrator', id: String(id), name: row.email ?? '', responseData: invited.invitation }
    return [act, { ...invited, email: row.email ?? '' }]
  })
  if (sendsEmail) sendInvitation(administration, email, code)
  return invitation
}

async function invite(
  administration: Administration,
  transaction: Transaction,
  id: number,
  now: number,
): Promise<{ readonly code: string; readonly invitation: Invitation }> {
  const expiresAt = now + invitationLifespan
  const code = await createOneTimeToken(transaction, 'admin-invitation', await administratorById(transaction, id), expiresAt)
  return { code, invitation: { link: pageUrl(administration, 'invitation', code), expiresAt } }
}

const sendInvitation = (administration: Administration, email: string, code: string): void =>
  administration.mail.post(createEmail(administration, 'invitation', email.toLowerCase(), code))

/** Changes of an administrator; absent fields stay. */
interface AdminUserChanges {
  readonly email?: string | undefined
  readonly firstname?: string | undefined
  readonly lastname?: string | null | undefined
  readonly language?: string | null | undefined
  readonly isActive?: boolean | undefined
  readonly isBlocked?: boolean | undefined
  readonly roles?: readonly number[] | undefined
}

const toColumns = ({ email, firstname, lastname, language, isActive, isBlocked }: AdminUserChanges): Readonly<Record<string, Stored>> => ({
  ...(email === undefined ? {} : { email: email.toLowerCase() }),
  ...(firstname === undefined ? {} : { firstname }),
  ...(lastname === undefined ? {} : { lastname }),
  ...(language === undefined ? {} : { prefered_language: language }),
  ...(isActive === undefined ? {} : { is_active: Number(isActive) }),
  ...(isBlocked === undefined ? {} : { blocked: Number(isBlocked) }),
})

/** Changes an administrator. Blocking, deactivating and a new address end all sessions. @throws ApiError 400, 403, 404 */
export async function changeAdminUser(
  administration: Administration,
  { administrator, actor }: Manager,
  id: number,
  changes: AdminUserChanges,
) {
  await doAction(administration, actor, async (transaction, now) => {
    const { row, roles } = await readAdminUser(transaction, id)
    checkMayManage(administrator, roles)
    if (changes.email !== undefined) await checkEmailAvailable(transaction, changes.email, id)
    if (changes.isActive === true && row.password === null) throw validationError('An administrator without a password cannot be active')
    if (changes.roles !== undefined) await checkRolesGrantable(transaction, administrator, changes.roles)
    const fields = Object.entries(changes).flatMap(([name, value]) => (value === undefined ? [] : [name]))
    if (fields.length === 0) return [null, undefined]
    const ends =
      changes.isActive === false || changes.isBlocked === true || (changes.email !== undefined && changes.email.toLowerCase() !== row.email)
    const losesRoles = changes.roles !== undefined && roles.some((role) => !changes.roles!.includes(role.id))
    if (changes.isActive === false || changes.isBlocked === true || losesRoles) await checkSuperAdminRemains(transaction, id, changes)
    await changeAdministrator(transaction, id, toColumns(changes), now, ends)
    if (changes.roles !== undefined) await setRoles(transaction, id, changes.roles)
    return [{ action: 'update', subject: 'administrator', id: String(id), name: row.email ?? '', fields }, undefined]
  })
  return readAdminUser(administration.database, id)
}

/** @throws ApiError 400 if the last super administrator would lose the role */
async function checkSuperAdminRemains(
  transaction: Transaction,
  id: number,
  { roles, isActive, isBlocked }: AdminUserChanges,
): Promise<void> {
  const kept = roles === undefined ? [] : await findSuperRoles(transaction, roles)
  if (isActive !== false && isBlocked !== true && kept.length > 0) return
  await checkNotLast(transaction, id)
}

const findSuperRoles = (database: RowReader, roles: readonly number[]): Promise<readonly unknown[]> =>
  roles.length === 0
    ? Promise.resolve([])
    : database.rows(sql`select id from admin_roles where code = 'strapi-super-admin' and id in (${sql.join(roles)})`)

/** Deletes an administrator. @throws ApiError 400, 403, 404 */
export const deleteAdminUser = (administration: Administration, { administrator, actor }: Manager, id: number): Promise<void> =>
  doAction(administration, actor, async (transaction) => {
    const { row, roles } = await readAdminUser(transaction, id)
    checkMayManage(administrator, roles)
    await checkNotLast(transaction, id)
    await removeAdministrator(transaction, id)
    return [{ action: 'delete', subject: 'administrator', id: String(id), name: row.email ?? '' }, undefined]
  })

/** @throws ApiError 403 if the administrator has a role that the manager lacks */
function checkMayManage({ isSuperAdmin, roles: own }: Administrator, roles: readonly AdministratorRole[]): void {
  if (isSuperAdmin || roles.every(({ id }) => own.some((role) => role.id === id))) return
  throw new ApiError('ForbiddenError', 'This administrator has roles that you lack')
}

/** @throws ApiError 400 for a role that does not exist, 403 for one that the manager lacks */
async function checkRolesGrantable(
  database: RowReader,
  { isSuperAdmin, roles: own }: Administrator,
  roles: readonly number[],
): Promise<void> {
  const known = await database.rows<{ id: number }>(sql`select id from admin_roles`)
  const unknown = roles.find((role) => !known.some(({ id }) => id === role))
  if (unknown !== undefined) throw validationError(`There is no role ${unknown}`)
  if (!isSuperAdmin && roles.some((role) => !own.some(({ id }) => id === role)))
    throw new ApiError('ForbiddenError', 'You cannot give roles that you lack')
}

/** A page of administrators: at most `limit`, with ids above `after`. */
interface AdministratorPage {
  readonly after: number
  readonly limit: number
}

/** Returns administrators in the order of their ids: all, or one page. */
export async function listAdministrators(database: RowReader, page: AdministratorPage | null = null): Promise<readonly AdminUser[]> {
  const within = page === null ? sql`order by u.id` : sql`where u.id > ${page.after} order by u.id limit ${page.limit}`
  const rows = await database.rows<AdministratorRow>(sql`select ${administratorColumns} from admin_users u ${within}`)
  if (rows.length === 0) return []
  const links = await database.rows<
    AdministratorRole & { readonly user: number }
  >(sql`select l.user_id as ${sql.ref('user')}, r.id, r.code, r.name
    from admin_users_roles_lnk l join admin_roles r on r.id = l.role_id where l.user_id >= ${rows[0]!.id} and l.user_id <= ${rows.at(-1)!.id} order by l.role_ord, r.id`)
  const byUser = new Map<number, AdministratorRole[]>()
  for (const { user, ...role } of links) byUser.set(user, [...(byUser.get(user) ?? []), role])
  return rows.map((row) => ({ row, roles: byUser.get(row.id) ?? [] }))
}

/** Changes the administrator's own names and language. */
export const changeOwnNames = (
  administration: Administration,
  actor: ActingAdministrator,
  { id, email }: Administrator,
  { firstname, lastname, language }: Pick<AdminUserChanges, 'firstname' | 'lastname' | 'language'>,
): Promise<void> =>
  doAction(administration, actor, async (transaction, now) => {
    const columns = toColumns({ firstname, lastname, language })
    if (Object.keys(columns).length === 0) return [null, undefined]
    await changeAdministrator(transaction, id, columns, now)
    return [{ action: 'update', subject: 'administrator', id: String(id), name: email, fields: Object.keys(columns) }, undefined]
  })
