// The rows of users: looking them up, adding, changing, removing. Who may do so is decided before.
import { sql } from 'kysely'
import { revokeCredentials } from '../access/credential-versions.js'
import type { MainConnection, Transaction } from '../database/database.js'
import { insertRow, type Stored, updateRow } from '../documents/store/rows.js'
import { type AttributeWriting, removeRow } from '../documents/user-attributes.js'
import { ApiError } from '../errors/errors.js'
import { newDocumentId } from '../model/document-id.js'
import type { ContentType } from '../model/types.js'
import { revokeOneTimeTokens } from './one-time-tokens.js'

type Rows = Pick<MainConnection, 'rows'>

export interface User {
  readonly id: number
  readonly document_id: string | null
  readonly username: string | null
  readonly email: string | null
  readonly provider: string | null
  readonly password: string | null
  readonly confirmed: number | null
  readonly blocked: number | null
}

const columns = sql`id, document_id, username, email, provider, password, confirmed, blocked`

export async function userById(database: Rows, id: number): Promise<User | null> {
  const [user = null] = await database.rows<User>(sql`select ${columns} from up_users where id = ${id}`)
  return user
}

/** The user with exactly this address, but for one. Databases may find more (accents, case); what they found is compared again. */
export async function userByEmail(database: Rows, email: string, but: number | null = null): Promise<User | null> {
  const users = await database.rows<User>(sql`select ${columns} from up_users where email = ${email} order by id`)
  return users.find((user) => user.email === email && user.id !== but) ?? null
}

/** The user with exactly this name, but for one. */
export async function userByName(database: Rows, username: string, but: number | null = null): Promise<User | null> {
  const users = await database.rows<User>(sql`select ${columns} from up_users where username = ${username} order by id`)
  return users.find((user) => user.username === username && user.id !== but) ?? null
}

/** The user who signs in with an address (in any case) or a name (exactly as it is), and a password of ours. */
export async function userByIdentifier(database: Rows, identifier: string): Promise<User | null> {
  const email = identifier.toLowerCase()
  const users = await database.rows<User>(
    sql`select ${columns} from up_users where provider = 'local' and (email = ${email} or username = ${identifier}) order by id`,
  )
  // Names keep their capitals, addresses do not: who types a name as it is written is not somebody with that address.
  const exactly = (user: User) => user.email === identifier
  const byName = (user: User) => user.username === identifier
  return users.find(exactly) ?? users.find(byName) ?? users.find((user) => user.email === email) ?? null
}

/**
 * Whether somebody (`but` for one) signs in with this text, as a name or as an address: a name that is somebody's address, and an address that is
 * somebody's name, would take each other's place.
 */
export async function isIdentifier(database: Rows, text: string, but: number | null = null): Promise<boolean> {
  return (await userByName(database, text, but)) !== null || (await userByEmail(database, text.toLowerCase(), but)) !== null
}

/** All users with the types of their roles. */
export function listUsers(database: Rows): Promise<readonly (User & { readonly role: string | null })[]> {
  return database.rows(sql`select u.id, u.document_id, u.username, u.email, u.provider, u.confirmed, u.blocked, r.type as role
    from up_users u left join up_users_role_lnk l on l.user_id = u.id left join up_roles r on r.id = l.role_id order by u.id`)
}

/** The id of the role with this type; null where there is none. */
export async function roleByType(database: Rows, type: string): Promise<number | null> {
  const roles = await database.rows<{ id: number; type: string }>(sql`select id, type from up_roles where type = ${type} order by id`)
  return roles.find((role) => role.type === type)?.id ?? null
}

/** @throws ApiError 400 for a role that does not exist. */
export async function checkRole(database: Rows, role: number): Promise<void> {
  const [found] = await database.rows(sql`select id from up_roles where id = ${role}`)
  if (found !== undefined) return
  const message = '1 relation(s) of type plugin::users-permissions.role associated with this entity do not exist'
  throw new ApiError('ValidationError', message)
}

/** Adds a user with a role and gives the row's id. Columns that are not given take the model's defaults. */
export async function addUser(
  transaction: Transaction,
  type: ContentType,
  values: Readonly<Record<string, Stored>>,
  role: number | null,
  now: number,
): Promise<number> {
  const defaults: Record<string, Stored> = {}
  for (const attribute of type.attributes.values()) {
    if (attribute.kind !== 'scalar' || attribute.source.default === undefined) continue
    defaults[attribute.column] = asColumn(attribute.source.default)
  }
  const dates = { created_at: now, updated_at: now, published_at: now }
  const id = await insertRow(transaction, 'up_users', { document_id: newDocumentId(), ...defaults, ...values, ...dates })
  // A row id that was somebody's before: what was issued to that one is void.
  await transaction.run(sql`update octavo_credential_versions set epoch = epoch + 1, changed_at = ${now} where user_id = ${id}`)
  if (role !== null) await setRole(transaction, id, role)
  return id
}

/** What letters and their codes depend on. */
const provedBy = ['email', 'password', 'blocked'] as const

/** Changes columns of a user. What voids credentials (a new password, blocking) says so. */
export async function changeUser(
  transaction: Transaction,
  id: number,
  values: Readonly<Record<string, Stored>>,
  now: number,
  voids = false,
): Promise<void> {
  const before = await userById(transaction, id)
  await updateRow(transaction, 'up_users', id, { ...values, updated_at: now })
  if (voids || provedBy.some((name) => values[name] !== undefined && values[name] !== before?.[name]))
    await revokeOneTimeTokens(transaction, id)
  if (voids) await revokeCredentials(transaction, id, now)
}

/** The user's only role from now on. */
export async function setRole(transaction: Transaction, id: number, role: number): Promise<void> {
  await transaction.run(sql`delete from up_users_role_lnk where user_id = ${id}`)
  await transaction.run(sql`insert into up_users_role_lnk (user_id, role_id, user_ord)
    values (${id}, ${role}, (select coalesce(max(user_ord), 0) + 1 from up_users_role_lnk where role_id = ${role}))`)
}

/** Removes a user with all that hangs on the row; what was issued to the user is void. */
export async function removeUser(writing: AttributeWriting, type: ContentType, id: number, now: number): Promise<void> {
  const { transaction } = writing
  await revokeCredentials(transaction, id, now)
  await revokeOneTimeTokens(transaction, id)
  await transaction.run(sql`delete from octavo_identities where user_id = ${id}`)
  await removeRow(writing, type, id)
}

/** A value of JSON as a column holds it. */
function asColumn(value: unknown): Stored {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value
  return typeof value === 'boolean' ? Number(value) : JSON.stringify(value)
}
