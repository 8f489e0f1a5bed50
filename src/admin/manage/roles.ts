// Roles of the content API managed by administrators, with entries in the log of activity.

import type { RowReader } from '../../database/database.js'
import { notFound } from '../../foundation/errors/errors.js'
import { createRole, deleteRole, listRoles, type Role, updateRole } from '../../identity/access/roles.js'
import { type ActingAdministrator, type AdministratorAction, loggingWriter } from '../activity.js'
import type { Administration } from '../context.js'
import { nameTaken, withFieldPaths } from '../error-paths.js'
import { checkGrantable, type KnownActions } from './tokens.js'

/** The values of a role to write. */
interface ApiRoleValues {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly actions?: readonly string[] | undefined
}

/** Returns a role. @throws ApiError 404 */
export async function apiRole(database: RowReader, id: number): Promise<Role> {
  const found = (await listRoles(database)).find((role) => role.id === id)
  if (found === undefined) throw notFound('Role not found')
  return found
}

const actionOn = (action: string, id: number, name: string, fields?: readonly string[]): AdministratorAction => ({
  action,
  subject: 'api-role',
  id: String(id),
  name,
  ...(fields === undefined ? {} : { fields }),
})

/** Creates a role, and returns its id. @throws ApiError 400 */
export async function createApiRole(
  administration: Administration,
  actor: ActingAdministrator,
  known: KnownActions,
  { name, description, actions = [] }: ApiRoleValues & { readonly name: string },
): Promise<number> {
  checkGrantable(known, actions)
  const writer = loggingWriter(administration, actor, (id: number) => actionOn('create', id, name))
  return withFieldPaths(() => createRole(writer, known.model, { name, description: description ?? '', actions }, administration.now()))
}

/** Changes a role. Unknown actions that it already has may stay. @throws ApiError 400, 404 */
export async function changeApiRole(
  administration: Administration,
  actor: ActingAdministrator,
  known: KnownActions,
  id: number,
  { name, description, actions }: ApiRoleValues,
): Promise<void> {
  const before = await apiRole(administration.database, id)
  const added = (actions ?? []).filter((action) => !before.actions.includes(action))
  checkGrantable(known, added)
  if (name !== undefined && (await listRoles(administration.database)).some((role) => role.name === name && role.id !== id))
    throw nameTaken('role')
  const values = {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(actions === undefined ? {} : { actions }),
  }
  const writer = loggingWriter(administration, actor, () => actionOn('update', id, before.name, Object.keys(values)))
  await updateRole(writer, known.model, id, values, administration.now())
}

/** Deletes a role; its users get the public role. @throws ApiError 404; 400 for the public role */
export async function deleteApiRole(administration: Administration, actor: ActingAdministrator, id: number): Promise<void> {
  const { name } = await apiRole(administration.database, id)
  await deleteRole(
    loggingWriter(administration, actor, () => actionOn('delete', id, name)),
    id,
  )
}
