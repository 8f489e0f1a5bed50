// Users and roles: /api/users and /api/users-permissions. Bare bodies, numeric ids, unknown users are 204.
import { createRole, deleteRole, readRoleBody, updateRole } from '../../access/roles.js'
import { checkAuthority } from '../../accounts/user-authority.js'
import { createUser, deleteUser, updateUser } from '../../accounts/user-records.js'
import type { Find, ReadBytes } from '../../documents/read/find.js'
import { notFound, unauthorized } from '../../errors/errors.js'
import type { Exchange, Reply, Route } from '../request-context.js'
import { created, noContent, ok, okBytes } from '../request-context.js'
import { rowId } from './files.js'
import { permissionTree } from './permission-tree.js'

const userType = 'plugin::users-permissions.user'
const roleType = 'plugin::users-permissions.role'

type Wanted = Pick<Find, 'mode' | 'identity'> & { readonly envelope?: Find['envelope'] }

async function findUsers({ documents, caller, query, isGone }: Exchange, action: string, wanted: Wanted): Promise<ReadBytes | null> {
  const type = documents.context.model.types.get(userType)!
  return documents.find(caller.grants, { type, action: `${userType}.${action}`, paged: false, query, envelope: 'bare', isGone, ...wanted })
}

/** A user after it was written, with its role where the caller may find roles. */
const writtenUser = (exchange: Exchange, action: string, id: number): Promise<ReadBytes | null> =>
  findUsers({ ...exchange, query: 'populate=role' }, action, { mode: 'first', identity: { attribute: 'id', value: id } })

const orNothing = (user: ReadBytes | null): Reply => (user === null ? noContent : okBytes(user))

export const accountRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/users',
    action: `${userType}.find`,
    handle: async (exchange) => okBytes((await findUsers(exchange, 'find', { mode: 'many' }))!),
  },
  {
    method: 'GET',
    path: '/users/count',
    action: `${userType}.count`,
    handle: async (exchange) => okBytes((await findUsers(exchange, 'count', { mode: 'many', envelope: 'count' }))!),
  },
  {
    method: 'GET',
    path: '/users/me',
    action: `${userType}.me`,
    handle: async (exchange) => {
      const { caller } = exchange
      if (caller.kind !== 'user') throw unauthorized('Unauthorized')
      return orNothing(await findUsers(exchange, 'me', { mode: 'first', identity: { attribute: 'id', value: caller.id } }))
    },
  },
  {
    method: 'GET',
    path: '/users/:id',
    action: `${userType}.findOne`,
    handle: async (exchange) =>
      orNothing(await findUsers(exchange, 'findOne', { mode: 'first', identity: { attribute: 'id', value: rowId(exchange.params.id!) } })),
  },
  {
    method: 'POST',
    path: '/users',
    action: `${userType}.create`,
    handle: async (exchange) => {
      const body = await exchange.body()
      await checkAuthority(exchange.house, exchange.caller, null, body)
      const id = await createUser(exchange.house, exchange.caller, body)
      return created((await writtenUser(exchange, 'create', id))!)
    },
  },
  {
    method: 'PUT',
    path: '/users/:id',
    action: `${userType}.update`,
    handle: async (exchange) => {
      const id = rowId(exchange.params.id!)
      const body = await exchange.body()
      await checkAuthority(exchange.house, exchange.caller, id, body)
      await updateUser(exchange.house, exchange.caller, id, body)
      return orNothing(await writtenUser(exchange, 'update', id))
    },
  },
  {
    method: 'DELETE',
    path: '/users/:id',
    action: `${userType}.destroy`,
    handle: async (exchange) => {
      const id = rowId(exchange.params.id!)
      const user = await findUsers({ ...exchange, query: '' }, 'destroy', { mode: 'first', identity: { attribute: 'id', value: id } })
      await deleteUser(exchange.house, id)
      return orNothing(user)
    },
  },
  {
    method: 'GET',
    path: '/users-permissions/roles',
    action: `${roleType}.find`,
    handle: async (exchange) => ok({ roles: await readRoles(exchange, '') }),
  },
  {
    method: 'GET',
    path: '/users-permissions/roles/:id',
    action: `${roleType}.findOne`,
    handle: async (exchange) => {
      const id = rowId(exchange.params.id!)
      const [role] = await readRoles(exchange, `filters[id]=${id}`)
      if (role === undefined) throw notFound('Role not found')
      const { nb_users: _users, ...rest } = role
      return ok({ role: { ...rest, permissions: permissionTree(exchange.documents.context.model, exchange.access.roles.get(id) ?? null) } })
    },
  },
  {
    method: 'POST',
    path: '/users-permissions/roles',
    action: `${roleType}.createRole`,
    handle: async ({ house, body }) => {
      await createRole(house.writer, readRoleBody(house.model(), await body()), house.now())
      return ok({ ok: true })
    },
  },
  {
    method: 'PUT',
    path: '/users-permissions/roles/:id',
    action: `${roleType}.updateRole`,
    handle: async ({ house, body, params }) => {
      await updateRole(house.writer, rowId(params.id!), readRoleBody(house.model(), await body()), house.now())
      return ok({ ok: true })
    },
  },
  {
    method: 'DELETE',
    path: '/users-permissions/roles/:id',
    action: `${roleType}.deleteRole`,
    handle: async ({ house, params }) => {
      await deleteRole(house.writer, rowId(params.id!))
      return ok({ ok: true })
    },
  },
  {
    method: 'GET',
    path: '/users-permissions/permissions',
    action: 'plugin::users-permissions.permissions.getPermissions',
    handle: async (exchange) => ok({ permissions: permissionTree(exchange.documents.context.model, null) }),
  },
]

/** Roles with the number of their users. Read as the service itself: the route has checked the caller's grant. */
async function readRoles({ documents }: Exchange, query: string): Promise<readonly Record<string, unknown>[]> {
  const type = documents.context.model.types.get(roleType)!
  const roles = (await documents.findAsService({
    type,
    mode: 'many',
    paged: false,
    query: `populate[users][count]=true&${query}`,
    envelope: 'bare',
  })) as readonly (Record<string, unknown> & { users: { count: number } })[]
  return roles.map(({ users, ...role }) => ({ ...role, nb_users: users.count }))
}
