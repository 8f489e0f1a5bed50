// Roles and their permissions: rows of up_roles and up_permissions. Changes take effect at the next request.
import { sql } from 'kysely'
import { insertRow, newEntry, updateRow } from '../../content/documents/store/rows.js'
import type { RowReader, Transaction } from '../../database/database.js'
import { bindTimestamp, linkLast } from '../../database/portable-sql.js'
import { ApiError, notFound, takenMessage, validationError } from '../../foundation/errors/errors.js'
import type { CustomRoute } from '../../foundation/public/routes.js'
import { getPluginLinks } from '../../model/schema/graph.js'
import type { Model } from '../../model/schema/types.js'
import { bodyMembers } from '../accounts/input.js'
import { readAccountSettings } from './account-settings.js'
import { actionsOf } from './actions.js'

/** The values of a role to write. */
interface RoleInput {
  readonly name?: string
  readonly description?: string
  /** All actions that the role allows; undefined leaves them unchanged. */
  readonly actions?: readonly string[]
}

/** Parses the body of a role; unknown actions are ignored, as in Strapi. */
export function readRoleBody(model: Model, routes: readonly CustomRoute[], body: unknown): RoleInput {
  const given = bodyMembers(body)
  if (Object.keys(given).length === 0) throw validationError('Request body cannot be empty')
  for (const name of ['name', 'description'] as const) {
    if (given[name] !== undefined && typeof given[name] !== 'string') throw validationError(`${name} must be a string`)
  }
  const { name, description, permissions } = given as { name?: string; description?: string; permissions?: unknown }
  return {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(permissions === undefined ? {} : { actions: enabledActions(actionsOf(model, routes), permissions) }),
  }
}

/** Returns the enabled actions of a tree of type → controllers → controller → action. */
function enabledActions(known: ReadonlySet<string>, permissions: unknown): readonly string[] {
  const found: string[] = []
  for (const [scope, { controllers }] of Object.entries(bodyMembers(permissions)).map(
    ([key, value]) => [key, bodyMembers(value)] as const,
  )) {
    for (const [controller, actions] of Object.entries(bodyMembers(controllers))) {
      for (const [action, { enabled }] of Object.entries(bodyMembers(actions)).map(([key, value]) => [key, bodyMembers(value)] as const)) {
        const name = `${scope}.${controller}.${action}`
        if (enabled === true && known.has(name)) found.push(name)
      }
    }
  }
  return found
}

/** Creates a role. @throws ApiError 400 for a name that is missing or taken. */
export async function createRole(
  transaction: Transaction,
  model: Model,
  { name, description, actions = [] }: RoleInput,
  now: number,
): Promise<number> {
  if (name === undefined || name.trim() === '') throw validationError('name is a required field')
  const type = typeOf(name)
  const [same] = await transaction.rows(sql`select id from up_roles where type = ${type} or name = ${name}`)
  if (same !== undefined) {
    throw new ApiError('ApplicationError', takenMessage).because([{ path: ['name'], message: takenMessage, code: 'unique' }])
  }
  const id = await insertRow(transaction, 'up_roles', { ...newEntry(now), name, description: description ?? '', type })
  await addActions(transaction, model, id, [...new Set(actions)], now)
  return id
}

/** Changes the name, description or actions of a role. @throws ApiError 404 */
export async function updateRole(
  transaction: Transaction,
  model: Model,
  id: number,
  { name, description, actions }: RoleInput,
  now: number,
): Promise<void> {
  await existing(transaction, id)
  const changes = { ...(name === undefined ? {} : { name }), ...(description === undefined ? {} : { description }) }
  await updateRow(transaction, 'up_roles', id, { ...changes, updated_at: bindTimestamp(now) })
  if (actions === undefined) return
  const missing = await keepActions(transaction, id, actions)
  await addActions(transaction, model, id, missing, now)
}

/** Deletes a role; its users get the public role, as in Strapi. @throws ApiError 404; 400 for the public role and the role of new users */
export async function deleteRole(transaction: Transaction, id: number): Promise<void> {
  const { type } = await existing(transaction, id)
  if (type === 'public') throw new ApiError('ApplicationError', 'Cannot delete public role')
  if (type === (await readAccountSettings(transaction)).defaultRole)
    throw new ApiError('ApplicationError', 'Cannot delete the role of new users (default role); choose another one first')
  const [publicRole] = await transaction.rows<{ id: number }>(sql`select id from up_roles where type = 'public'`)
  if (publicRole !== undefined) {
    await transaction.run(sql`update up_users_role_lnk set role_id = ${publicRole.id} where role_id = ${id}`)
  }
  await keepActions(transaction, id, [])
  await transaction.run(sql`delete from up_roles where id = ${id}`)
}

async function existing(transaction: Transaction, id: number): Promise<{ readonly type: string }> {
  const [role] = await transaction.rows<{ type: string }>(sql`select type from up_roles where id = ${id}`)
  if (role === undefined) throw notFound('Role not found')
  return role
}

/** Takes all actions but these from a role, and returns those of them that it lacks. */
async function keepActions(transaction: Transaction, role: number, actions: readonly string[]): Promise<readonly string[]> {
  const wanted = new Set(actions)
  const present = await transaction.rows<{ id: number; action: string }>(
    sql`select p.id, p.action from up_permissions p join up_permissions_role_lnk l on l.permission_id = p.id where l.role_id = ${role}`,
  )
  for (const { id, action } of present) {
    if (!wanted.delete(action)) await transaction.run(sql`delete from up_permissions where id = ${id}`)
  }
  return [...wanted]
}

/** Adds actions to a role. */
export async function addActions(
  transaction: Transaction,
  model: Model,
  role: number,
  actions: readonly string[],
  now: number,
): Promise<void> {
  const links = getPluginLinks(model, 'plugin::users-permissions.permission', 'role')
  for (const action of actions) {
    const permission = await insertRow(transaction, 'up_permissions', { ...newEntry(now), action })
    await transaction.run(linkLast(links, permission, role))
  }
}

/** Derives a role's type from its name: lower case, words joined by underscores. */
export function typeOf(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase()
  return (plain.match(/[\p{L}\p{N}]+/gu) ?? []).join('_')
}

/** A role with its actions and the number of its users. */
export interface Role {
  readonly id: number
  readonly name: string
  readonly type: string
  readonly description: string | null
  readonly users: number
  readonly actions: readonly string[]
}

/** Returns all roles with their actions. */
export async function listRoles(database: RowReader): Promise<readonly Role[]> {
  const roles = await database.rows<Omit<Role, 'actions'>>(sql`select r.id, r.name, r.type, r.description,
    (select count(*) from up_users_role_lnk l where l.role_id = r.id) as users from up_roles r order by r.id`)
  const actions = await database.rows<{ role: number; action: string }>(
    sql`select l.role_id as role, p.action from up_permissions p join up_permissions_role_lnk l on l.permission_id = p.id order by p.action`,
  )
  return roles.map((role) => ({ ...role, actions: actions.filter((one) => one.role === role.id).map(({ action }) => action) }))
}
