// Finds, inserts, changes and deletes rows of users. Permissions are checked by the callers.
import { sql } from 'kysely'
import { defaultColumns } from '../../content/documents/input/attributes.js'
import { insertRow, newEntry, updateRow } from '../../content/documents/store/rows.js'
import { type AttributeWriting, removeRow } from '../../content/documents/user-attributes.js'
import type { RowReader, Transaction } from '../../database/database.js'
import { type BoundRow, bindTimestamp, linkLast } from '../../database/portable-sql.js'
import { validationError } from '../../foundation/errors/errors.js'
import { ownedLink } from '../../model/schema/graph.js'
import type { ContentType } from '../../model/schema/types.js'
import { revokeCredentials } from '../access/identify.js'
import type { RoleReference } from './input.js'
import { revokeOneTimeTokens } from './one-time-tokens.js'

/** The used columns of a row of up_users. */
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

/** Returns the user with this id, or null. */
export async function userById(database: RowReader, id: number): Promise<User | null> {
  const [user = null] = await database.rows<User>(sql`select ${columns} from up_users where id = ${id}`)
  return user
}

/** Returns the user with exactly this address, except the user `except`. The result is compared again, because collations may ignore accents or case. */
export async function userByEmail(database: RowReader, email: string, except: number | null = null): Promise<User | null> {
  const users = await database.rows<User>(sql`select ${columns} from up_users where email = ${email} order by id`)
  return users.find((user) => user.email === email && user.id !== except) ?? null
}

/** Returns the user with exactly this name, except the user `except`. */
export async function userByName(database: RowReader, username: string, except: number | null = null): Promise<User | null> {
  const users = await database.rows<User>(sql`select ${columns} from up_users where username = ${username} order by id`)
  return users.find((user) => user.username === username && user.id !== except) ?? null
}

/** Returns the local user with this e-mail address (in any case) or exactly this name. */
export async function userByIdentifier(database: RowReader, identifier: string): Promise<User | null> {
  const email = identifier.toLowerCase()
  const users = await database.rows<User>(
    sql`select ${columns} from up_users where provider = 'local' and (email = ${email} or username = ${identifier}) order by id`,
  )
  // Names are case-sensitive and addresses are not, so an exact name takes precedence over an address in another case.
  const exactly = (user: User) => user.email === identifier
  const byName = (user: User) => user.username === identifier
  return users.find(exactly) ?? users.find(byName) ?? users.find((user) => user.email === email) ?? null
}

/**
 * True if a user, except the user `except`, signs in with this text as a name or an address. A name that equals another user's address could
 * be used to take over that account, and vice versa.
 */
export async function isIdentifier(database: RowReader, text: string, except: number | null = null): Promise<boolean> {
  return (await userByName(database, text, except)) !== null || (await userByEmail(database, text.toLowerCase(), except)) !== null
}

/** Returns all users with the types of their roles. */
export function listUsers(database: RowReader): Promise<readonly (User & { readonly role: string | null })[]> {
  return database.rows(sql`select u.id, u.document_id, u.username, u.email, u.provider, u.confirmed, u.blocked, r.type as role
    from up_users u left join up_users_role_lnk l on l.user_id = u.id left join up_roles r on r.id = l.role_id order by u.id`)
}

/** Returns the id of the role with this type, or null. */
export async function roleByType(database: RowReader, type: string): Promise<number | null> {
  const roles = await database.rows<{ id: number; type: string }>(sql`select id, type from up_roles where type = ${type} order by id`)
  return roles.find((role) => role.type === type)?.id ?? null
}

/** Returns the id of the role that a body names, or null. */
export async function roleNamed(database: RowReader, role: RoleReference): Promise<number | null> {
  const isNamed = role.kind === 'row' ? sql`id = ${role.id}` : sql`document_id = ${role.documentId}`
  const roles = await database.rows<{ id: number; document_id: string | null }>(
    sql`select id, document_id from up_roles where ${isNamed} order by id`,
  )
  return roles.find(({ document_id }) => role.kind === 'row' || document_id === role.documentId)?.id ?? null
}

/** Returns the id of the role that a body names; `shown`: the body. @throws ApiError 400 if it does not exist, in Strapi's words */
export async function existingRole(database: RowReader, role: RoleReference, shown?: object): Promise<number> {
  const id = await roleNamed(database, role)
  if (id !== null) return id
  const message =
    role.kind === 'document'
      ? `Document with id "${role.documentId}", locale "null" not found`
      : '1 relation(s) of type plugin::users-permissions.role associated with this entity do not exist'
  const value = role.kind === 'row' ? shown : undefined
  const details = value === undefined ? {} : { errors: [{ path: [], message, name: 'ValidationError', value }] }
  throw validationError(message, details).because([{ path: ['role'], message, code: 'notFound' }])
}

/** Inserts a user with a role and returns the row id. Missing columns get the model's defaults. */
export async function addUser(
  transaction: Transaction,
  type: ContentType,
  values: BoundRow,
  role: number | null,
  now: number,
): Promise<number> {
  const id = await insertRow(transaction, 'up_users', { ...defaultColumns(type), ...values, ...newEntry(now) })
  // If the row id was used before, tokens of the earlier user become invalid.
  await transaction.run(sql`update octavo_credential_versions set epoch = epoch + 1, changed_at = ${now} where user_id = ${id}`)
  if (role !== null) await setRole(transaction, type, id, role)
  return id
}

/** The columns that one-time codes are bound to. */
const boundToCodes = ['email', 'password', 'blocked'] as const

/** Changes columns of a user, who is published again, like every document without drafts. `revokes`: also invalidates all tokens, for a new password or blocking. */
export async function changeUser(transaction: Transaction, id: number, values: BoundRow, now: number, revokes = false): Promise<void> {
  const before = await userById(transaction, id)
  await updateRow(transaction, 'up_users', id, { ...values, updated_at: bindTimestamp(now), published_at: bindTimestamp(now) })
  if (revokes || boundToCodes.some((name) => values[name] !== undefined && values[name] !== before?.[name]))
    await revokeOneTimeTokens(transaction, id)
  if (revokes) await revokeCredentials(transaction, id, now)
}

/** Sets the only role of a user. `type`: that of users. */
export async function setRole(transaction: Transaction, type: ContentType, id: number, role: number): Promise<void> {
  const links = ownedLink(type, 'role')
  if (links === null) throw new Error(`${type.uid}.role has no table for links to roles`)
  await transaction.run(sql`delete from up_users_role_lnk where user_id = ${id}`)
  await transaction.run(linkLast(links, id, role))
}

/** Deletes a user with all dependent rows, and invalidates the user's tokens. */
export async function removeUser(writing: AttributeWriting, type: ContentType, id: number, now: number): Promise<void> {
  const { transaction } = writing
  await revokeCredentials(transaction, id, now)
  await revokeOneTimeTokens(transaction, id)
  await transaction.run(sql`delete from octavo_identities where user_id = ${id}`)
  await removeRow(writing, type, id)
}
