// Roles of administrators and their rights: rows of admin_roles and admin_permissions, which Strapi's panel shares.

import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { insertRow, updateRow } from '../../content/documents/store/rows.js'
import { storedSetting } from '../../content/documents/store/settings.js'
import type { RowReader, Transaction } from '../../database/database.js'
import { ApiError, notFound } from '../../foundation/errors/errors.js'
import { newDocumentId } from '../../model/schema/names.js'
import type { Model } from '../../model/schema/types.js'
import { type ActingAdministrator, doAction } from '../activity.js'
import type { Administration } from '../context.js'
import { nameTaken } from '../error-paths.js'
import { type AdministratorRole, superAdminCode } from '../identity/administrators.js'
import { checkGiver, checkStorable, type GrantingAdministrator, type RoleRight, rightKey, toRoleRight, toRow } from './delegation.js'
import { type PermissionRow, parseStoredJson } from './permissions.js'

/** The default roles of Strapi's panel, in its order. */
const defaultRoles = [
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

/** Returns the roles with these ids or codes, in this order; null for unknown ones. */
export async function findRoles(database: RowReader, wanted: readonly (number | string)[]): Promise<readonly (AdministratorRole | null)[]> {
  const roles = await database.rows<AdministratorRole>(sql`select id, code, name from admin_roles order by id`)
  return wanted.map((one) => roles.find(({ id, code }) => id === one || code === one) ?? null)
}

/**
 * Creates the default roles in a database without roles, as Strapi does at its start. Those of editors and authors have no rights: these
 * are granted by people.
 */
export async function addDefaultRoles(transaction: Transaction, now: number): Promise<void> {
  const [any] = await transaction.rows(sql`select id from admin_roles limit 1`)
  if (any !== undefined) return
  for (const role of defaultRoles)
    await insertRow(transaction, 'admin_roles', {
      document_id: newDocumentId(),
      ...role,
      created_at: now,
      updated_at: now,
      published_at: now,
    })
}

/** A role with the number of its administrators. */
interface ListedRole extends AdministratorRole {
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

interface RoleValues {
  readonly name?: string | undefined
  readonly description?: string | undefined
}

/** Creates a role without rights, and returns its id. @throws ApiError 400 for a name that is taken */
export const createAdministratorRole = (
  administration: Administration,
  actor: ActingAdministrator,
  { name, description }: RoleValues & { readonly name: string },
): Promise<number> =>
  doAction(administration, actor, async (transaction, now) => {
    await checkRoleName(transaction, name, null)
    const words = name
      .normalize('NFKD')
      .toLowerCase()
      .match(/[a-z\d]+/g) ?? ['role']
    const dates = { created_at: now, updated_at: now, published_at: now }
    const values = { document_id: newDocumentId(), name, description: description ?? '', ...dates }
    // Derived from the name, as in Strapi, with a suffix that makes it unique.
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
  doAction(administration, actor, async (transaction, now) => {
    const role = await administratorRole(transaction, id)
    checkNotSuperAdmin(role)
    if (name !== undefined) await checkRoleName(transaction, name, id)
    const values = { ...(name === undefined ? {} : { name }), ...(description === undefined ? {} : { description }) }
    if (Object.keys(values).length === 0) return [null, undefined]
    await updateRow(transaction, 'admin_roles', id, { ...values, updated_at: now })
    return [{ action: 'update', subject: 'role', id: String(id), name: role.name, fields: Object.keys(values) }, undefined]
  })

/** Deletes a role with its rights. @throws ApiError 404; 400 while administrators have it, and for the role of super administrators */
export const deleteAdministratorRole = (administration: Administration, actor: ActingAdministrator, id: number): Promise<void> =>
  doAction(administration, actor, async (transaction) => {
    const role = await administratorRole(transaction, id)
    checkNotSuperAdmin(role)
    if (role.administrators > 0) throw new ApiError('ApplicationError', 'Some administrators still have this role')
    if (await isSingleSignOnDefault(transaction, id))
      throw new ApiError('ApplicationError', 'New administrators of single sign-on get this role; choose another one first')
    await transaction.run(
      sql`delete from admin_permissions where id in (select permission_id from admin_permissions_role_lnk where role_id = ${id})`,
    )
    await transaction.run(sql`delete from admin_permissions_role_lnk where role_id = ${id}`)
    await transaction.run(sql`delete from admin_roles where id = ${id}`)
    return [{ action: 'delete', subject: 'role', id: String(id), name: role.name }, undefined]
  })

/** True if new administrators of single sign-on get this role. */
async function isSingleSignOnDefault(database: RowReader, id: number): Promise<boolean> {
  const stored = (await storedSetting(database, 'core_admin_auth')) as { readonly providers?: { readonly defaultRole?: unknown } } | null
  const role = stored?.providers?.defaultRole ?? null
  return role !== null && String(role) === String(id)
}

function checkNotSuperAdmin({ code }: ListedRole): void {
  if (code === superAdminCode) throw new ApiError('ApplicationError', 'The role of super administrators stays as it is')
}

async function checkRoleName(database: RowReader, name: string, except: number | null): Promise<void> {
  const same = (await listAdministratorRoles(database)).find((role) => role.name === name && role.id !== except)
  if (same !== undefined) throw nameTaken('role')
}

/** The rights of a role. */
interface RoleRights {
  readonly revision: string
  /** True for super administrators, who may do everything. */
  readonly everything: boolean
  readonly rights: readonly RoleRight[]
}

interface RolePermission extends PermissionRow {
  readonly id: number
}

async function readRoleRows(database: RowReader, role: number): Promise<readonly RolePermission[]> {
  const rows = await database.rows<RolePermission>(sql`select p.id, p.action, p.subject, p.properties, p.conditions from admin_permissions p
    where p.id in (select permission_id from admin_permissions_role_lnk where role_id = ${role}) order by p.action, p.subject, p.id`)
  return rows.map((row) => ({ ...row, properties: parseStoredJson(row.properties), conditions: parseStoredJson(row.conditions) }))
}

/** Reads the rights of a role. @throws ApiError 404 */
export async function readRoleRights(database: RowReader, model: Model, id: number): Promise<RoleRights> {
  const { code } = await administratorRole(database, id)
  const rows = await readRoleRows(database, id)
  return { revision: rightsRevision(rows), everything: code === superAdminCode, rights: rows.map((row) => toRoleRight(model, row)) }
}

const rightsRevision = (rows: readonly RolePermission[]): string =>
  createHash('sha256')
    .update(JSON.stringify(rows.map(({ id, ...row }) => [id, row.action, row.subject, row.properties, row.conditions])))
    .digest('base64url')
    .slice(0, 27)

/**
 * Replaces the rights of a role. Rows of unchanged rights stay.
 * @throws ApiError 404; 400 for the role of super administrators, and for rights that Strapi would not keep; 403 for rights that the
 * administrator lacks; 412 with another revision
 */
export function replaceRights(
  administration: Administration,
  actor: ActingAdministrator,
  giver: GrantingAdministrator,
  model: Model,
  { role, revisions, rights }: { readonly role: number; readonly revisions: readonly string[]; readonly rights: readonly RoleRight[] },
): Promise<void> {
  return doAction(administration, actor, async (transaction, now) => {
    const { code, name } = await administratorRole(transaction, role)
    if (code === superAdminCode) throw new ApiError('ApplicationError', 'The role of super administrators stays as it is')
    const present = await readRoleRows(transaction, role)
    if (!revisions.includes(rightsRevision(present)))
      throw new ApiError('PreconditionFailedError', 'The rights have changed since they were read')
    const { leaving, given } = compareRights(model, present, rights)
    checkGiver(model, giver, present, given)
    await removeRows(transaction, leaving)
    for (const right of given) await addRow(transaction, role, toRow(model, right), now)
    const changed = leaving.length > 0 || given.length > 0
    return [changed ? { action: 'rights', subject: 'role', id: String(role), name } : null, undefined]
  })
}

/**
 * Compares present rows with the new rights. Rows of unchanged rights stay, even if they would be refused or written differently today.
 * @throws ApiError 400
 */
function compareRights(
  model: Model,
  present: readonly RolePermission[],
  rights: readonly RoleRight[],
): { readonly leaving: readonly RolePermission[]; readonly given: readonly RoleRight[] } {
  const rest = new Map<string, RolePermission[]>()
  for (const row of present) {
    const text = rightKey(toRoleRight(model, row))
    rest.set(text, [...(rest.get(text) ?? []), row])
  }
  const others = rights.map((right, index) => ({ right, index })).filter(({ right }) => !rest.has(rightKey(right)))
  checkStorable(model, present, others)
  const written = others.map(({ right }) => ({ right, text: rightKey(toRoleRight(model, toRow(model, right))) }))
  const given = new Map(written.filter(({ text }) => !rest.has(text)).map(({ right, text }) => [text, right]))
  for (const text of [...rights.map(rightKey), ...written.map((one) => one.text)]) rest.get(text)?.shift()
  return { leaving: [...rest.values()].flat(), given: [...given.values()] }
}

async function removeRows(transaction: Transaction, rows: readonly RolePermission[]): Promise<void> {
  for (const { id } of rows) {
    await transaction.run(sql`delete from admin_permissions_role_lnk where permission_id = ${id}`)
    await transaction.run(sql`delete from admin_permissions where id = ${id}`)
  }
}

async function addRow(transaction: Transaction, role: number, row: ReturnType<typeof toRow>, now: number): Promise<void> {
  const { action, subject, properties, conditions } = row
  const permission = await insertRow(transaction, 'admin_permissions', {
    document_id: newDocumentId(),
    action,
    subject,
    action_parameters: '{}',
    properties: JSON.stringify(properties),
    conditions: JSON.stringify(conditions),
    created_at: now,
    updated_at: now,
    published_at: now,
  })
  await transaction.run(sql`insert into admin_permissions_role_lnk (permission_id, role_id, permission_ord) values
    (${permission}, ${role}, ${permission})`)
}
