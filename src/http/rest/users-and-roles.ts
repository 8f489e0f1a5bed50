// The routes of /api/users and /api/users-permissions. Bodies have no envelope, ids are numeric, and unknown users return 204.
import type { Find, ReadBytes } from '../../content/documents/read/find.js'
import type { Config } from '../../foundation/config/config.js'
import { notFound, unauthorized } from '../../foundation/errors/errors.js'
import type { Grants } from '../../foundation/grants.js'
import { controllersOf, isUseless } from '../../identity/access/actions.js'
import { createRole, deleteRole, readRoleBody, updateRole } from '../../identity/access/roles.js'
import { checkAuthority } from '../../identity/accounts/user-authority.js'
import { createUser, deleteUser, updateUser } from '../../identity/accounts/user-records.js'
import type { Model } from '../../model/schema/types.js'
import { refuseUnread } from '../body.js'
import { created, noContent, ok, okBytes, type Reply, type RequestContext, type Route, withTurns } from '../request-context.js'
import { okRead } from '../respond.js'
import { rowId } from './files.js'

const userType = 'plugin::users-permissions.user'
const roleType = 'plugin::users-permissions.role'

type WantedUsers = Pick<Find, 'mode' | 'identity'> & { readonly envelope?: Find['envelope'] }

async function findUsers(
  { documents, caller, query, isGone }: RequestContext,
  action: string,
  wanted: WantedUsers,
): Promise<ReadBytes | null> {
  const type = documents.context.model.types.get(userType)!
  return documents.find(caller.grants, { type, action: `${userType}.${action}`, paged: false, query, envelope: 'bare', isGone, ...wanted })
}

/** Reads a user after a write, with the role if the caller may read roles, unless the project hides the attribute. */
function readWrittenUser(context: RequestContext, action: string, id: number): Promise<ReadBytes | null> {
  const isShown = context.documents.context.model.types.get(userType)!.attributes.get('role')?.private === false
  const query = isShown ? 'populate=role' : ''
  return findUsers({ ...context, query }, action, { mode: 'first', identity: { attribute: 'id', value: id } })
}

/** The tree of all actions, with those enabled that `grants` allow. */
const createTree = ({ documents, config }: RequestContext, grants: Grants | null) => permissionTree(documents.context.model, config, grants)

const toUserReply = (user: ReadBytes | null): Reply => (user === null ? noContent : okBytes(user))

/** The routes of users, roles and permissions. */
export const usersAndRolesRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/users',
    action: `${userType}.find`,
    handle: async (context) => okRead(context, (await findUsers(context, 'find', { mode: 'many' }))!),
  },
  {
    method: 'GET',
    path: '/users/count',
    action: `${userType}.count`,
    handle: async (context) => okRead(context, (await findUsers(context, 'count', { mode: 'many', envelope: 'count' }))!),
  },
  {
    method: 'GET',
    path: '/users/me',
    action: `${userType}.me`,
    handle: async (context) => {
      const { caller } = context
      if (caller.kind !== 'user') throw unauthorized('Unauthorized')
      const user = await findUsers(context, 'me', { mode: 'first', identity: { attribute: 'id', value: caller.id } })
      return user === null ? noContent : okRead(context, user)
    },
  },
  {
    method: 'GET',
    path: '/users/:id',
    action: `${userType}.findOne`,
    handle: async (context) => {
      const user = await findUsers(context, 'findOne', { mode: 'first', identity: { attribute: 'id', value: rowId(context.params.id!) } })
      return user === null ? noContent : okRead(context, user)
    },
  },
  {
    method: 'POST',
    path: '/users',
    action: `${userType}.create`,
    handle: async (context) => {
      const body = await context.body()
      await checkAuthority(context.accounts, context.caller, null, body)
      const id = await createUser(withTurns(context), context.caller, body)
      return { ...created((await readWrittenUser(context, 'create', id))!), changed: [id] }
    },
  },
  {
    method: 'PUT',
    path: '/users/:id',
    action: `${userType}.update`,
    handle: async (context) => {
      const id = rowId(context.params.id!)
      const body = await context.body()
      refuseUnread(context.request, body)
      await checkAuthority(context.accounts, context.caller, id, body)
      await updateUser(withTurns(context), context.caller, id, body)
      return toUserReply(await readWrittenUser(context, 'update', id))
    },
  },
  {
    method: 'DELETE',
    path: '/users/:id',
    action: `${userType}.destroy`,
    handle: async (context) => {
      const id = rowId(context.params.id!)
      const user = await findUsers({ ...context, query: '' }, 'destroy', { mode: 'first', identity: { attribute: 'id', value: id } })
      await deleteUser(context.accounts, id)
      return toUserReply(user)
    },
  },
  {
    method: 'GET',
    path: '/users-permissions/roles',
    action: `${roleType}.find`,
    handle: async (context) => ok({ roles: await readRoles(context, '') }),
  },
  {
    method: 'GET',
    path: '/users-permissions/roles/:id',
    action: `${roleType}.findOne`,
    handle: async (context) => {
      const id = rowId(context.params.id!)
      const [role] = await readRoles(context, `filters[id]=${id}`)
      if (role === undefined) throw notFound('Role not found')
      const { nb_users: _users, ...rest } = role
      return ok({ role: { ...rest, permissions: createTree(context, context.access.roles.get(id) ?? null) } })
    },
  },
  {
    method: 'POST',
    path: '/users-permissions/roles',
    action: `${roleType}.createRole`,
    handle: async ({ accounts, body, config }) => {
      const role = readRoleBody(accounts.model, config.routes, await body())
      await accounts.writer.transaction((transaction) => createRole(transaction, accounts.model, role, accounts.now()))
      return ok({ ok: true })
    },
  },
  {
    method: 'PUT',
    path: '/users-permissions/roles/:id',
    action: `${roleType}.updateRole`,
    handle: async ({ accounts, body, params, config }) => {
      const id = rowId(params.id!)
      const role = readRoleBody(accounts.model, config.routes, await body())
      await accounts.writer.transaction((transaction) => updateRole(transaction, accounts.model, id, role, accounts.now()))
      return ok({ ok: true })
    },
  },
  {
    method: 'DELETE',
    path: '/users-permissions/roles/:id',
    action: `${roleType}.deleteRole`,
    handle: async ({ accounts, params }) => {
      const id = rowId(params.id!)
      await accounts.writer.transaction((transaction) => deleteRole(transaction, id))
      return ok({ ok: true })
    },
  },
  {
    method: 'GET',
    path: '/users-permissions/permissions',
    action: 'plugin::users-permissions.permissions.getPermissions',
    handle: async (context) => ok({ permissions: createTree(context, null) }),
  },
]

/** Reads roles with the number of their users, without checking grants, which the route has done. */
async function readRoles({ documents }: RequestContext, query: string): Promise<readonly Record<string, unknown>[]> {
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

type Tree = Record<string, { controllers: Record<string, Record<string, { enabled: boolean; policy: string }>> }>

/** Returns the tree of all actions that something needs, with those enabled that `grants` allow. */
function permissionTree(model: Model, config: Pick<Config, 'routes' | 'types'>, grants: Grants | null): Tree {
  const tree: Tree = {}
  const isHidden = isUseless(config)
  for (const { scope, controller, actions: all } of controllersOf(model, config.routes)) {
    const actions = all.filter((action) => !isHidden(`${scope}.${controller}.${action}`))
    if (actions.length === 0) continue
    tree[scope] ??= { controllers: {} }
    const entry = (action: string) => [action, { enabled: grants?.may(`${scope}.${controller}.${action}`) === true, policy: '' }]
    tree[scope].controllers[controller] = Object.fromEntries(actions.map(entry))
  }
  return tree
}
