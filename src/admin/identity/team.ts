// Administrators managed by administrators: invited, changed, blocked, deleted. Nobody gives a role that they lack, or touches somebody who
// has one; the last super administrator stays.
import { sql } from 'kysely'
import type { RowReader, Transaction } from '../../database/database.js'
import type { Stored } from '../../database/portable-sql.js'
import { ApiError, notFound, validationError } from '../../foundation/errors/errors.js'
import { createOneTimeToken } from '../../identity/accounts/one-time-tokens.js'
import { type ActingAdministrator, doAct } from '../activity.js'
import type { Administration } from '../context.js'
import { addAdministrator, changeAdministrator, checkFree, checkNotLast, removeAdministrator, setRoles } from './accounts.js'
import { type AdministratorRole, type AdministratorRow, administratorById, rolesOf } from './administrators.js'
import type { Administrator } from './identify.js'
import { letterOf, pageOf } from './letters.js'
import { invitationLifespan } from './recovery.js'

/** An administrator with its roles. */
export interface TeamMember {
  readonly row: AdministratorRow
  readonly roles: readonly AdministratorRole[]
}

/** An invitation; its link is shown once. */
export interface Invitation {
  readonly link: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

/** Who manages. */
export interface Manager {
  readonly administrator: Administrator
  readonly actor: ActingAdministrator
}

/** What an invitation says. */
export interface InvitedAdministrator {
  readonly email: string
  readonly firstname: string
  readonly lastname: string | null
  /** Row ids. */
  readonly roles: readonly number[]
  /** Send the link by e-mail. */
  readonly sendsEmail: boolean
}

/** Returns an administrator. @throws ApiError 404 */
export async function teamMember(database: RowReader, id: number): Promise<TeamMember> {
  const row = await administratorById(database, id)
  if (row === null) throw notFound('Administrator not found')
  return { row, roles: await rolesOf(database, id) }
}

/** Creates an administrator who chooses a password with the code of the invitation. @throws ApiError 400, 403 */
export async function inviteAdministrator(
  administration: Administration,
  { administrator, actor }: Manager,
  given: InvitedAdministrator,
): Promise<{ readonly id: number; readonly invitation: Invitation }> {
  const { id, code, invitation } = await doAct(administration, actor, async (transaction, now) => {
    await checkGiven(transaction, administrator, given.roles)
    const made = await addAdministrator(transaction, { ...given, password: null }, now)
    const invited = await invite(administration, transaction, made, now)
    const name = given.email.toLowerCase()
    return [
      { action: 'create', subject: 'administrator', id: String(made), name, told: invited.invitation },
      { id: made, ...invited },
    ]
  })
  if (given.sendsEmail) sendInvitation(administration, given.email, code)
  return { id, invitation }
}

/** Makes a new code for an administrator who has not accepted the invitation; the former one is void. @throws ApiError 400, 403, 404 */
export async function inviteAgain(
  administration: Administration,
  { administrator, actor }: Manager,
  id: number,
  sendsEmail: boolean,
): Promise<Invitation> {
  const { code, email, invitation } = await doAct(administration, actor, async (transaction, now) => {
    const { row, roles } = await teamMember(transaction, id)
    checkMayManage(administrator, roles)
    if (row.password !== null) throw new ApiError('ApplicationError', 'This administrator has a password already')
    const invited = await invite(administration, transaction, id, now)
    const act = { action: 'invite', subject: 'administrator', id: String(id), name: row.email ?? '', told: invited.invitation }
    return [act, { ...invited, email: row.email ?? '' }]
  })
  if (sendsEmail) sendInvitation(administration, email, code)
  return invitation
}

/** Makes the code of an invitation. */
async function invite(
  administration: Administration,
  transaction: Transaction,
  id: number,
  now: number,
): Promise<{ readonly code: string; readonly invitation: Invitation }> {
  const expiresAt = now + invitationLifespan
  const code = await createOneTimeToken(transaction, 'admin-invitation', await administratorById(transaction, id), expiresAt)
  return { code, invitation: { link: pageOf(administration, 'invitation', code), expiresAt } }
}

const sendInvitation = (administration: Administration, email: string, code: string): void =>
  administration.mail.post(letterOf(administration, 'invitation', email.toLowerCase(), code))

/** Changes of an administrator; what is missing stays. */
export interface TeamChanges {
  readonly email?: string | undefined
  readonly firstname?: string | undefined
  readonly lastname?: string | null | undefined
  readonly language?: string | null | undefined
  readonly isActive?: boolean | undefined
  readonly isBlocked?: boolean | undefined
  readonly roles?: readonly number[] | undefined
}

/** The columns of changes. */
export const teamColumns = ({
  email,
  firstname,
  lastname,
  language,
  isActive,
  isBlocked,
}: TeamChanges): Readonly<Record<string, Stored>> => ({
  ...(email === undefined ? {} : { email: email.toLowerCase() }),
  ...(firstname === undefined ? {} : { firstname }),
  ...(lastname === undefined ? {} : { lastname }),
  ...(language === undefined ? {} : { prefered_language: language }),
  ...(isActive === undefined ? {} : { is_active: Number(isActive) }),
  ...(isBlocked === undefined ? {} : { blocked: Number(isBlocked) }),
})

/** Changes an administrator. Blocking, deactivating and a new address end all sessions. @throws ApiError 400, 403, 404 */
export async function changeTeamMember(
  administration: Administration,
  { administrator, actor }: Manager,
  id: number,
  changes: TeamChanges,
) {
  await doAct(administration, actor, async (transaction, now) => {
    const { row, roles } = await teamMember(transaction, id)
    checkMayManage(administrator, roles)
    if (changes.email !== undefined) await checkFree(transaction, changes.email, id)
    if (changes.isActive === true && row.password === null) throw validationError('An administrator without a password cannot be active')
    if (changes.roles !== undefined) await checkGiven(transaction, administrator, changes.roles)
    const fields = Object.entries(changes).flatMap(([name, value]) => (value === undefined ? [] : [name]))
    if (fields.length === 0) return [null, undefined]
    const ends =
      changes.isActive === false || changes.isBlocked === true || (changes.email !== undefined && changes.email.toLowerCase() !== row.email)
    const losesRoles = changes.roles !== undefined && roles.some((role) => !changes.roles!.includes(role.id))
    if (changes.isActive === false || changes.isBlocked === true || losesRoles) await checkStays(transaction, id, changes)
    await changeAdministrator(transaction, id, teamColumns(changes), now, ends)
    if (changes.roles !== undefined) await setRoles(transaction, id, changes.roles)
    return [{ action: 'update', subject: 'administrator', id: String(id), name: row.email ?? '', fields }, undefined]
  })
  return teamMember(administration.database, id)
}

/** @throws ApiError 400 if a change takes the rights of the last super administrator */
async function checkStays(transaction: Transaction, id: number, { roles, isActive, isBlocked }: TeamChanges): Promise<void> {
  const kept = roles === undefined ? [] : await superRolesAmong(transaction, roles)
  if (isActive !== false && isBlocked !== true && kept.length > 0) return
  await checkNotLast(transaction, id)
}

const superRolesAmong = (database: RowReader, roles: readonly number[]): Promise<readonly unknown[]> =>
  roles.length === 0
    ? Promise.resolve([])
    : database.rows(sql`select id from admin_roles where code = 'strapi-super-admin' and id in (${sql.join(roles)})`)

/** Deletes an administrator. @throws ApiError 400, 403, 404 */
export const deleteTeamMember = (administration: Administration, { administrator, actor }: Manager, id: number): Promise<void> =>
  doAct(administration, actor, async (transaction) => {
    const { row, roles } = await teamMember(transaction, id)
    checkMayManage(administrator, roles)
    await checkNotLast(transaction, id)
    await removeAdministrator(transaction, id)
    return [{ action: 'delete', subject: 'administrator', id: String(id), name: row.email ?? '' }, undefined]
  })

/** @throws ApiError 403 if somebody has a role that the manager lacks */
function checkMayManage({ isSuperAdmin, roles: own }: Administrator, roles: readonly AdministratorRole[]): void {
  if (isSuperAdmin || roles.every(({ id }) => own.some((role) => role.id === id))) return
  throw new ApiError('ForbiddenError', 'This administrator has roles that you lack')
}

/** @throws ApiError 400 for a role that does not exist, 403 for one that the manager lacks */
async function checkGiven(database: RowReader, { isSuperAdmin, roles: own }: Administrator, roles: readonly number[]): Promise<void> {
  const known = await database.rows<{ id: number }>(sql`select id from admin_roles`)
  const unknown = roles.find((role) => !known.some(({ id }) => id === role))
  if (unknown !== undefined) throw validationError(`There is no role ${unknown}`)
  if (!isSuperAdmin && roles.some((role) => !own.some(({ id }) => id === role)))
    throw new ApiError('ForbiddenError', 'You cannot give roles that you lack')
}
