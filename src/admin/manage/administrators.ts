// Administrators: operations of the administration. Managers need the roles of the administrators that they manage.

import { type RawBuilder, sql } from 'kysely'
import * as z from 'zod'
import type { RowReader, Transaction } from '../../database/database.js'
import type { Stored } from '../../database/portable-sql.js'
import { ApiError, invalidAt, notFound } from '../../foundation/errors/errors.js'
import { createOneTimeToken } from '../../identity/accounts/one-time-tokens.js'
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
  removeAdministrator,
  setRoles,
  superAdminCode,
  toPerson,
} from '../identity/administrators.js'
import { createEmail, pageUrl } from '../identity/emails.js'
import type { Administrator } from '../identity/identify.js'
import { invitationLifespan } from '../identity/recovery.js'
import { newEmail, pageInput, pageMeta, parseCursor, personName, timestamp, toPage, toTimestamp } from '../values.js'
import { findRoles } from './administrator-roles.js'
import { act, operation, type RequestChangeContext, type RequestOperationContext } from './operation.js'

const shownAdministrator = z.strictObject({
  id: z.int(),
  documentId: z.string().nullable(),
  email: z.string(),
  firstname: z.string().nullable(),
  lastname: z.string().nullable(),
  language: z.string().nullable(),
  isActive: z.boolean(),
  isBlocked: z.boolean(),
  /** Has not accepted the invitation. */
  isInvited: z.boolean(),
  roles: z.array(z.strictObject({ id: z.int(), code: z.string(), name: z.string() })),
})
type ShownAdministrator = z.input<typeof shownAdministrator>
const administratorResponse = z.strictObject({ data: shownAdministrator })
const shownInvitation = z.strictObject({ link: z.string(), expiresAt: timestamp })

/** Returns administrators in the order of their ids; `which`: which of `u`, by default all. */
export async function readAdministrators(
  database: RowReader,
  which: RawBuilder<unknown> = sql`order by u.id`,
): Promise<readonly ShownAdministrator[]> {
  const rows = await database.rows<AdministratorRow>(sql`select ${administratorColumns} from admin_users u ${which}`)
  if (rows.length === 0) return []
  const links = await database.rows<
    AdministratorRole & { readonly user: number }
  >(sql`select l.user_id as ${sql.ref('user')}, r.id, r.code, r.name
    from admin_users_roles_lnk l join admin_roles r on r.id = l.role_id where l.user_id >= ${rows[0]!.id} and l.user_id <= ${rows.at(-1)!.id} order by l.role_ord, r.id`)
  return rows.map((row) => ({
    ...toPerson(row),
    isActive: row.is_active === 1,
    isBlocked: row.blocked === 1,
    isInvited: row.password === null,
    roles: links.flatMap(({ user, ...role }) => (user === row.id ? [role] : [])),
  }))
}

/** @throws ApiError 404 */
async function readAdministrator(database: RowReader, id: number): Promise<ShownAdministrator> {
  const [found] = await readAdministrators(database, sql`where u.id = ${id}`)
  if (found === undefined) throw notFound('Administrator not found')
  return found
}

const respondOne = async (database: RowReader, id: number) => ({ data: await readAdministrator(database, id) })

/** An invitation. Its link is shown once. */
interface Invitation {
  readonly link: string
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

/** The invitation that an operation stored. */
function toShownInvitation(responseData: unknown): z.input<typeof shownInvitation> {
  const { link, expiresAt } = responseData as Invitation
  return { link, expiresAt: toTimestamp(expiresAt) }
}

/** Creates a code for an administrator without password, and invalidates the former one. */
async function invite(administration: Administration, transaction: Transaction, id: number, now: number) {
  const expiresAt = now + invitationLifespan
  const code = await createOneTimeToken(transaction, 'admin-invitation', await administratorById(transaction, id), expiresAt)
  return { code, responseData: { link: pageUrl(administration, 'invitation', code), expiresAt } satisfies Invitation }
}

const sendInvitation = (administration: Administration, email: string, code: string): void =>
  administration.mail.post(createEmail(administration, 'invitation', email.toLowerCase(), code))

/** Reads an administrator to be changed. @throws ApiError 404; 403 if the administrator has a role that the manager lacks */
async function readManaged({ administrator: manager }: RequestOperationContext, database: RowReader, id: number) {
  const found = await readAdministrator(database, id)
  if (!manager.isSuperAdmin && lacksRole(manager, found.roles))
    throw new ApiError('ForbiddenError', 'This administrator has roles that you lack')
  return found
}

const lacksRole = ({ roles: own }: Administrator, roles: readonly { readonly id: number }[]): boolean =>
  roles.some(({ id }) => !own.some((role) => role.id === id))

/** @throws ApiError 400 for a role that does not exist, 403 for one that the manager lacks */
async function readGrantable({ administrator: manager }: RequestOperationContext, database: RowReader, ids: readonly number[]) {
  const roles = await findRoles(database, ids)
  const unknown = roles.indexOf(null)
  if (unknown >= 0) throw invalidAt(['roles', String(unknown)], `There is no role ${ids[unknown]}`, 'notFound')
  const found = roles.filter((role) => role !== null)
  if (!manager.isSuperAdmin && lacksRole(manager, found)) throw new ApiError('ForbiddenError', 'You cannot give roles that you lack')
  return found
}

const lastname = personName.nullable()
const roleIds = z
  .array(z.int().positive())
  .max(100)
  .transform((ids) => [...new Set(ids)])
const ownFields = { firstname: personName, lastname, language: z.string().min(1).max(35).nullable() }
const fields = { email: newEmail, ...ownFields, isActive: z.boolean(), isBlocked: z.boolean(), roles: roleIds }
const changes = z.strictObject(fields).partial()

const toColumns = (given: z.output<typeof changes>): Readonly<Record<string, Stored>> => {
  const { email, firstname, lastname, language, isActive, isBlocked } = given
  return {
    ...(email === undefined ? {} : { email: email.toLowerCase() }),
    ...(firstname === undefined ? {} : { firstname }),
    ...(lastname === undefined ? {} : { lastname }),
    ...(language === undefined ? {} : { prefered_language: language }),
    ...(isActive === undefined ? {} : { is_active: Number(isActive) }),
    ...(isBlocked === undefined ? {} : { blocked: Number(isBlocked) }),
  }
}

const right = (name: string) => ({ action: `admin::users.${name}` })
const audited = (action: string) => ({ action, subject: 'administrator' })

/** The operations on administrators. */
export const administrators = {
  list: operation({
    route: 'GET /admins',
    summary: 'List administrators',
    rights: right('read'),
    input: z.strictObject(pageInput),
    output: z.strictObject({ data: z.array(shownAdministrator), meta: pageMeta }),
    respond: async ({ database }, { after, limit }) => {
      const page = sql`where u.id > ${parseCursor(after, 'admins') ?? 0} order by u.id limit ${limit + 1}`
      const { shown, meta } = toPage(await readAdministrators(database, page), limit, 'admins', ({ id }) => id)
      return { data: shown, meta }
    },
  }),
  invite: operation({
    route: 'POST /admins',
    summary: 'Invite an administrator; the link is shown once',
    rights: right('create'),
    isStrong: true,
    isSecret: true,
    input: z.strictObject({
      email: newEmail,
      firstname: personName,
      lastname: lastname.default(null),
      roles: roleIds,
      sendsEmail: z.boolean().default(true),
    }),
    output: administratorResponse.extend({ invitation: shownInvitation }),
    audit: audited('create'),
    run: async (context: RequestChangeContext, given) => {
      const { code, ...done } = await act(context, async (transaction, now) => {
        await readGrantable(context, transaction, given.roles)
        const id = await addAdministrator(transaction, { ...given, password: null }, now)
        return { id: String(id), name: given.email.toLowerCase(), ...(await invite(context.administration, transaction, id, now)) }
      })
      if (given.sendsEmail) sendInvitation(context.administration, given.email, code)
      return done
    },
    respond: async ({ database }, _input, { id, responseData }) => ({
      ...(await respondOne(database, Number(id))),
      invitation: toShownInvitation(responseData),
    }),
  }),
  read: operation({
    route: 'GET /admins/:id',
    summary: 'Read an administrator',
    rights: right('read'),
    output: administratorResponse,
    respond: ({ database }, { id }) => respondOne(database, id),
  }),
  /** Blocking, deactivating and a new address end all sessions. */
  update: operation({
    route: 'PATCH /admins/:id',
    summary: 'Change, block or unblock an administrator',
    rights: right('update'),
    isStrong: true,
    input: changes,
    output: administratorResponse,
    audit: audited('update'),
    run: (context: RequestChangeContext, { id, ...given }) =>
      act(context, async (transaction, now) => {
        const before = await readManaged(context, transaction, id)
        const { email, isActive, isBlocked, roles } = given
        if (email !== undefined) await checkEmailAvailable(transaction, email, id)
        if (isActive === true && before.isInvited)
          throw invalidAt(['isActive'], 'An administrator without a password cannot be active', 'conflict')
        const after = roles === undefined ? before.roles : await readGrantable(context, transaction, roles)
        const isStopped = isActive === false || isBlocked === true
        const isSuperAdmin = after.some(({ code }) => code === superAdminCode)
        const losesRole = before.roles.some((role) => !after.some((one) => one.id === role.id))
        if (isStopped || (losesRole && !isSuperAdmin)) await checkNotLast(transaction, id)
        const isMoved = email !== undefined && email.toLowerCase() !== before.email
        const fields = Object.keys(given)
        if (fields.length > 0) await changeAdministrator(transaction, id, toColumns(given), now, isStopped || isMoved)
        if (roles !== undefined) await setRoles(transaction, id, roles)
        return { id: String(id), name: before.email, fields }
      }),
    respond: ({ database }, { id }) => respondOne(database, id),
  }),
  delete: operation({
    route: 'DELETE /admins/:id',
    summary: 'Delete an administrator',
    rights: right('delete'),
    isStrong: true,
    output: null,
    audit: audited('delete'),
    run: (context: RequestChangeContext, { id }) =>
      act(context, async (transaction) => {
        const { email } = await readManaged(context, transaction, id)
        await checkNotLast(transaction, id)
        await removeAdministrator(transaction, id)
        return { id: String(id), name: email }
      }),
  }),
  inviteAgain: operation({
    route: 'POST /admins/:id/invitation',
    summary: 'Invite again; the former link is void',
    rights: right('create'),
    isStrong: true,
    isSecret: true,
    input: z.strictObject({ sendsEmail: z.boolean().default(true) }),
    output: z.strictObject({ data: shownInvitation }),
    audit: audited('invite'),
    run: async (context: RequestChangeContext, { id, sendsEmail }) => {
      const { code, ...done } = await act(context, async (transaction, now) => {
        const { email, isInvited } = await readManaged(context, transaction, id)
        if (!isInvited) throw new ApiError('ApplicationError', 'This administrator has a password already')
        return { id: String(id), name: email, ...(await invite(context.administration, transaction, id, now)) }
      })
      if (sendsEmail) sendInvitation(context.administration, done.name, code)
      return done
    },
    respond: async (_context, _input, { responseData }) => ({ data: toShownInvitation(responseData) }),
  }),
  readOwn: operation({
    route: 'GET /me',
    summary: 'Read my own account',
    rights: 'administrator',
    output: administratorResponse,
    respond: ({ database, administrator }: RequestOperationContext) => respondOne(database, administrator.id),
  }),
  updateOwn: operation({
    route: 'PATCH /me',
    summary: 'Change my own names and language',
    rights: 'administrator',
    input: z.strictObject(ownFields).partial(),
    output: administratorResponse,
    audit: audited('update'),
    run: (context: RequestChangeContext, given) =>
      act(context, async (transaction, now) => {
        const { id, email } = context.administrator
        const columns = toColumns(given)
        if (Object.keys(columns).length > 0) await changeAdministrator(transaction, id, columns, now)
        return { id: String(id), name: email, fields: Object.keys(columns) }
      }),
    respond: ({ database, administrator }: RequestOperationContext) => respondOne(database, administrator.id),
  }),
}
