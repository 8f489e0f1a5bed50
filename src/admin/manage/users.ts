// Users of the content API, managed by administrators.
import { sql } from 'kysely'
import type { RowReader } from '../../database/database.js'
import { notFound } from '../../foundation/errors/errors.js'
import { fullAccess } from '../../foundation/grants.js'
import type { AccountContext } from '../../identity/accounts/context.js'
import { createUser, deleteUser, updateUser } from '../../identity/accounts/user-records.js'
import { type ActingAdministrator, type AdministratorAction, loggingWriter } from '../activity.js'
import type { Administration } from '../context.js'
import { withFieldPaths } from '../error-paths.js'
import { queueName } from '../identity/sign-in.js'

interface ManagedUser {
  readonly id: number
  readonly documentId: string | null
  readonly username: string | null
  readonly email: string | null
  readonly provider: string | null
  readonly isConfirmed: boolean
  readonly isBlocked: boolean
  readonly role: { readonly id: number; readonly name: string; readonly type: string } | null
}

interface Row {
  readonly id: number
  readonly document_id: string | null
  readonly username: string | null
  readonly email: string | null
  readonly provider: string | null
  readonly confirmed: number | null
  readonly blocked: number | null
  readonly role: number | null
  readonly role_name: string | null
  readonly role_type: string | null
}

const selectUsers = sql`select u.id, u.document_id, u.username, u.email, u.provider, u.confirmed, u.blocked,
  r.id as ${sql.ref('role')}, r.name as role_name, r.type as role_type
  from up_users u left join up_users_role_lnk l on l.user_id = u.id left join up_roles r on r.id = l.role_id`

const toUser = (row: Row): ManagedUser => ({
  id: row.id,
  documentId: row.document_id,
  username: row.username,
  email: row.email,
  provider: row.provider,
  isConfirmed: row.confirmed === 1,
  isBlocked: row.blocked === 1,
  role: row.role === null ? null : { id: row.role, name: row.role_name ?? '', type: row.role_type ?? '' },
})

/** Returns at most `limit` users with ids above `after`, in the order of their ids. */
export async function managedUsers(
  database: RowReader,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<readonly ManagedUser[]> {
  return (await database.rows<Row>(sql`${selectUsers} where u.id > ${after} order by u.id limit ${limit}`)).map(toUser)
}

/** Returns a user. @throws ApiError 404 */
export async function managedUser(database: RowReader, id: number): Promise<ManagedUser> {
  const [row] = await database.rows<Row>(sql`${selectUsers} where u.id = ${id} order by r.id limit 1`)
  if (row === undefined) throw notFound('User not found')
  return toUser(row)
}

/** The values of a user to write. */
export interface UserValues {
  readonly username?: string | undefined
  readonly email?: string | undefined
  readonly password?: string | undefined
  readonly isConfirmed?: boolean | undefined
  readonly isBlocked?: boolean | undefined
  readonly role?: number | undefined
}

interface UserWriting {
  readonly administration: Administration
  readonly accounts: AccountContext
  readonly actor: ActingAdministrator
}

/** The same rights as a full-access API token. */
const caller = { kind: 'token', id: 0, grants: fullAccess } as const

const toBody = ({ isConfirmed, isBlocked, ...values }: UserValues): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries({ ...values, confirmed: isConfirmed, blocked: isBlocked }).filter(([, value]) => value !== undefined))

const actionOn = (action: string, id: number, name: string | null, fields?: readonly string[]): AdministratorAction => ({
  action,
  subject: 'user',
  id: String(id),
  name: name ?? '',
  ...(fields === undefined ? {} : { fields }),
})

const queuedFor = ({ administrator }: ActingAdministrator, accounts: AccountContext): AccountContext =>
  administrator === null ? accounts : { ...accounts, passwords: accounts.passwords.of(queueName(administrator.id)) }

/** Creates a user, and returns the row id. @throws ApiError 400 */
export function createManagedUser(
  { administration, accounts, actor }: UserWriting,
  values: UserValues & { readonly username: string },
): Promise<number> {
  const writer = loggingWriter(administration, actor, (id: number) => actionOn('create', id, values.username))
  return withFieldPaths(() => createUser({ ...queuedFor(actor, accounts), writer }, caller, toBody(values)))
}

/** Changes a user. A new password and blocking invalidate the user's tokens. @throws ApiError 400, 404 */
export async function changeManagedUser({ administration, accounts, actor }: UserWriting, id: number, values: UserValues): Promise<void> {
  const { username } = await managedUser(administration.database, id)
  const body = toBody(values)
  const writer = loggingWriter(administration, actor, () => actionOn('update', id, username, Object.keys(body)))
  await withFieldPaths(() => updateUser({ ...queuedFor(actor, accounts), writer }, caller, id, body))
}

/** Deletes a user. @throws ApiError 404 */
export async function deleteManagedUser({ administration, accounts, actor }: UserWriting, id: number): Promise<void> {
  const { username } = await managedUser(administration.database, id)
  const writer = loggingWriter(administration, actor, () => actionOn('delete', id, username))
  await deleteUser({ ...accounts, writer }, id)
}
