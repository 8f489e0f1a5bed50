// Roles of administrators: rows of admin_roles, which Strapi's panel shares. What a role allows is in admin_permissions.
import { sql } from 'kysely'
import { insertRow, updateRow } from '../../content/documents/store/rows.js'
import { storedSetting } from '../../content/documents/store/settings.js'
import type { RowReader, Transaction } from '../../database/database.js'
import { ApiError, notFound } from '../../foundation/errors/errors.js'
import { newDocumentId } from '../../model/schema/document-id.js'
import { type ActingAdministrator, doAct } from '../activity.js'
import type { Administration } from '../context.js'
import { nameTaken } from '../field-errors.js'
import { type AdministratorRole, superAdminCode } from '../identity/administrators.js'

/** The roles that Strapi's panel makes where there are none, in its order. */
const firstRoles = [
  {
    name: 'Super Admin',
    code: superAdminCode,
    description: 'Super Admins can access and manage all features and settings.',
  },
  {
    name: 'Editor',
    code: 'strapi-editor',
    description: 'Editors can manage and publish contents including those of other users.',
  },
  { name: 'Author', code: 'strapi-author', description: 'Authors can manage the content they have created.' },
] as const

/** Returns the roles with these ids or codes, in this order; null where there is none. */
export async function findRoles(database: RowReader, wanted: readonly (number | string)[]): Promise<readonly (AdministratorRole | null)[]> {
  const roles = await database.rows<AdministratorRole>(sql`select id, code, name from admin_roles order by id`)
  return wanted.map((one) => roles.find(({ id, code }) => id === one || code === one) ?? null)
}

/**
 * Makes the three roles of Strapi's panel in a database that has none, as Strapi does at its start. The editor's and the author's allow
 * nothing: which rights they get is decided by people.
 */
export async function addFirstRoles(transaction: Transaction, now: number): Promise<void> {
  const [any] = await transaction.rows(sql`select id from admin_roles limit 1`)
  if (any !== undefined) return
  for (const role of firstRoles)
    await insertRow(transaction, 'admin_roles', {
      document_id: newDocumentId(),
      ...role,
      created_at: now,
      updated_at: now,
      published_at: now,
    })
}

/** A role with its description and the number of its administrators. */
export interface ListedRole extends AdministratorRole {
  readonly description: string | null
  readonly administrators: number
}

/** Returns all roles in the order of their ids. */
export const listAdministratorRoles = (database: RowReader): Promise<readonly ListedRole[]> =>
  database.rows<ListedRole>(sql`select r.id, r.code, r.name, r.description,
    (select count(*) from admin_users_roles_lnk l where l.role_id = r.id) as administrators from admin_roles r order by r.id`)

/** Returns a role. @throws ApiError 404 */
export async function administratorRole(database: RowReader, id: number): Promise<ListedRole> {
  const found = (await listAdministratorRoles(database)).find((role) => role.id === id)
  if (found === undefined) throw notFound('Role not found')
  return found
}

/** The values of a role to write. */
export interface RoleValues {
  readonly name?: string | undefined
  readonly description?: string | undefined
}

/** Creates a role that allows nothing, and returns its id. @throws ApiError 400 for a name that is taken */
export const createAdministratorRole = (
  administration: Administration,
  actor: ActingAdministrator,
  { name, description }: RoleValues & { readonly name: string },
): Promise<number> =>
  doAct(administration, actor, async (transaction, now) => {
    await checkName(transaction, name, null)
    const words = name
      .normalize('NFKD')
      .toLowerCase()
      .match(/[a-z\d]+/g) ?? ['role']
    const dates = { created_at: now, updated_at: now, published_at: now }
    const values = { document_id: newDocumentId(), name, description: description ?? '', ...dates }
    // A code is unique, as Strapi makes it from the name: with what follows, it is.
    const id = await insertRow(transaction, 'admin_roles', {
      ...values,
      code: `${words.join('-').slice(0, 200)}-${newDocumentId().slice(0, 8)}`,
    })
    return [{ action: 'create', subject: 'role', id: String(id), name }, id]
  })

/** Changes the name or description of a role. @throws ApiError 404; 400 for a name that is taken, and for the role of super administrators */
export const changeAdministratorRole = (
  administration: Administration,
  actor: ActingAdministrator,
  id: number,
  { name, description }: RoleValues,
): Promise<void> =>
  doAct(administration, actor, async (transaction, now) => {
    const role = await administratorRole(transaction, id)
    checkOrdinary(role)
    if (name !== undefined) await checkName(transaction, name, id)
    const values = { ...(name === undefined ? {} : { name }), ...(description === undefined ? {} : { description }) }
    if (Object.keys(values).length === 0) return [null, undefined]
    await updateRow(transaction, 'admin_roles', id, { ...values, updated_at: now })
    return [{ action: 'update', subject: 'role', id: String(id), name: role.name, fields: Object.keys(values) }, undefined]
  })

/** Deletes a role with its rights. @throws ApiError 404; 400 while administrators have it, and for the role of super administrators */
export const deleteAdministratorRole = (administration: Administration, actor: ActingAdministrator, id: number): Promise<void> =>
  doAct(administration, actor, async (transaction) => {
    const role = await administratorRole(transaction, id)
    checkOrdinary(role)
    if (role.administrators > 0) throw new ApiError('ApplicationError', 'Some administrators still have this role')
    if (await isRoleOfNewAdministrators(transaction, id))
      throw new ApiError('ApplicationError', 'New administrators of single sign-on get this role; choose another one first')
    await transaction.run(
      sql`delete from admin_permissions where id in (select permission_id from admin_permissions_role_lnk where role_id = ${id})`,
    )
    await transaction.run(sql`delete from admin_permissions_role_lnk where role_id = ${id}`)
    await transaction.run(sql`delete from admin_roles where id = ${id}`)
    return [{ action: 'delete', subject: 'role', id: String(id), name: role.name }, undefined]
  })

/** True for the role that Strapi gives to administrators who sign in by another service for the first time. */
async function isRoleOfNewAdministrators(database: RowReader, id: number): Promise<boolean> {
  const stored = (await storedSetting(database, 'core_admin_auth')) as { readonly providers?: { readonly defaultRole?: unknown } } | null
  const role = stored?.providers?.defaultRole ?? null
  return role !== null && String(role) === String(id)
}

function checkOrdinary({ code }: ListedRole): void {
  if (code === superAdminCode) throw new ApiError('ApplicationError', 'The role of super administrators stays as it is')
}

async function checkName(database: RowReader, name: string, except: number | null): Promise<void> {
  const same = (await listAdministratorRoles(database)).find((role) => role.name === name && role.id !== except)
  if (same !== undefined) throw nameTaken('role')
}
