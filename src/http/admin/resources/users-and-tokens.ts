// /tokens, /api-roles and /users: access to the content API.

import * as z from 'zod'
import type { FormerResult } from '../../../admin/idempotency.js'
import { apiRole, changeApiRole, createApiRole, deleteApiRole } from '../../../admin/manage/roles.js'
import {
  changeManagedToken,
  createManagedToken,
  deleteManagedToken,
  type ManagedToken,
  managedToken,
  managedTokens,
  type NewTokenKey,
  regenerateManagedToken,
  type TokenManager,
} from '../../../admin/manage/tokens.js'
import {
  changeManagedUser,
  createManagedUser,
  deleteManagedUser,
  managedUser,
  managedUsers,
  type UserValues,
} from '../../../admin/manage/users.js'
import { actionsOf, isUseless } from '../../../identity/access/actions.js'
import { listRoles, type Role } from '../../../identity/access/roles.js'
import { type Resource, type ResourceRequest, resource, respond, respondNothing } from '../resource.js'
import {
  byId,
  descriptionInput,
  nameInput,
  newEmail,
  pageInput,
  pageMeta,
  parseCursor,
  timestamp,
  toPage,
  toTimestampOrNull,
} from '../values.js'

const type = z.enum(['read-only', 'full-access', 'custom'])
const actions = z.array(z.string().max(255)).max(10_000)

const shownToken = z.strictObject({
  id: z.int(),
  name: z.string(),
  description: z.string(),
  type,
  /** Milliseconds; null: it never expires. */
  lifespan: z.int().nullable(),
  expiresAt: timestamp.nullable(),
  lastUsedAt: timestamp.nullable(),
  createdAt: timestamp.nullable(),
  actions: z.array(z.string()),
})

const toToken = ({ expiresAt, lastUsedAt, createdAt, actions: all, ...token }: ManagedToken): z.input<typeof shownToken> => ({
  ...token,
  expiresAt: toTimestampOrNull(expiresAt),
  lastUsedAt: toTimestampOrNull(lastUsedAt),
  createdAt: toTimestampOrNull(createdAt),
  actions: [...all],
})

const tokenResponse = z.strictObject({ data: shownToken })
const withKey = z.strictObject({ data: shownToken, key: z.string() })
const managerOf = ({ actor, administrator: { isSuperAdmin } }: ResourceRequest): TokenManager => ({ ...actor, isSuperAdmin })
const knownActions = ({ installation, parts }: ResourceRequest) => ({ model: installation.model, config: parts.config })

/** A token and its new key as a response. */
async function respondKey({ administration }: ResourceRequest, { id, key }: NewTokenKey) {
  return respond({ data: toToken(await managedToken(administration.database, id)), key })
}

const keyMade = ({ ids, responseData: told }: FormerResult): NewTokenKey => ({ id: Number(ids[0]), key: String(told) })

/** The longest lifespan of a token, in milliseconds: a century. */
const century = 36_525 * 86_400_000

/** The resources of API tokens. */
export const tokenResources: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/tokens',
    summary: 'List API tokens, without keys',
    who: { action: 'admin::api-tokens.read' },
    response: z.strictObject({ data: z.array(shownToken) }),
    handle: async ({ administration }) => respond({ data: (await managedTokens(administration.database)).map(toToken) }),
  }),
  resource({
    method: 'POST',
    path: '/tokens',
    summary: 'Create an API token; its key is shown once',
    who: { action: 'admin::api-tokens.create' },
    status: 201,
    isStrong: true,
    isSecret: true,
    body: z.strictObject({
      name: nameInput,
      description: descriptionInput.default(''),
      type,
      lifespan: z.int().positive().max(century).nullable().default(null),
      actions: actions.default([]),
    }),
    response: withKey,
    handle: async (context) =>
      respondKey(context, await createManagedToken(context.administration, managerOf(context), knownActions(context), context.body)),
    respondAgain: (context, done) => respondKey(context, keyMade(done)),
  }),
  resource({
    method: 'GET',
    path: '/tokens/:id',
    summary: 'Read an API token',
    who: { action: 'admin::api-tokens.read' },
    params: byId,
    response: tokenResponse,
    handle: async ({ administration, params }) => respond({ data: toToken(await managedToken(administration.database, params.id)) }),
  }),
  resource({
    method: 'PATCH',
    path: '/tokens/:id',
    summary: 'Change an API token; its key stays',
    who: { action: 'admin::api-tokens.update' },
    isStrong: true,
    params: byId,
    body: z.strictObject({
      name: nameInput.optional(),
      description: descriptionInput.optional(),
      type: type.optional(),
      actions: actions.optional(),
    }),
    response: tokenResponse,
    handle: async (context) => {
      const { administration, params, body } = context
      return respond({
        data: toToken(await changeManagedToken(administration, managerOf(context), knownActions(context), params.id, body)),
      })
    },
  }),
  resource({
    method: 'POST',
    path: '/tokens/:id/regenerate',
    summary: 'Replace the key of an API token; the new one is shown once',
    who: { action: 'admin::api-tokens.regenerate' },
    isStrong: true,
    isSecret: true,
    params: byId,
    body: z.strictObject({}),
    response: withKey,
    handle: async (context) =>
      respondKey(context, await regenerateManagedToken(context.administration, managerOf(context), context.params.id)),
    respondAgain: (context, done) => respondKey(context, keyMade(done)),
  }),
  resource({
    method: 'DELETE',
    path: '/tokens/:id',
    summary: 'Delete an API token',
    who: { action: 'admin::api-tokens.delete' },
    isStrong: true,
    params: byId,
    response: null,
    handle: async ({ administration, actor, params }) => {
      await deleteManagedToken(administration, actor, params.id)
      return respondNothing()
    },
  }),
]

const shownRole = z.strictObject({
  id: z.int(),
  name: z.string(),
  type: z.string(),
  description: z.string().nullable(),
  users: z.int(),
  actions: z.array(z.string()),
})
const apiRoleResponse = z.strictObject({ data: shownRole })
const toApiRole = ({ actions, ...role }: Role): z.input<typeof shownRole> => ({ ...role, actions: [...actions] })

const actionsInput = z
  .array(z.string().max(255))
  .max(10_000)
  .transform((actions) => [...new Set(actions)])
const action = (name: string) => ({ action: `plugin::users-permissions.roles.${name}` })
const known = ({ installation, parts }: ResourceRequest) => ({ model: installation.model, config: parts.config })

async function respondRole({ administration }: ResourceRequest, id: number) {
  return respond({ data: toApiRole(await apiRole(administration.database, id)) })
}

/** The resources of roles of the content API. */
export const apiRoleResources: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/api-actions',
    summary: 'List the actions that roles of the content API and custom tokens can allow',
    who: 'administrator',
    response: z.strictObject({ data: z.array(z.string()) }),
    handle: async (context) => {
      const { model, config } = known(context)
      const useless = isUseless(config)
      return respond({ data: [...actionsOf(model, config.routes)].filter((name) => !useless(name)).sort() })
    },
  }),
  resource({
    method: 'GET',
    path: '/api-roles',
    summary: 'List the roles of the content API',
    who: action('read'),
    response: z.strictObject({ data: z.array(shownRole) }),
    handle: async ({ administration }) => respond({ data: (await listRoles(administration.database)).map(toApiRole) }),
  }),
  resource({
    method: 'POST',
    path: '/api-roles',
    summary: 'Create a role of the content API',
    who: action('create'),
    status: 201,
    isStrong: true,
    body: z.strictObject({ name: nameInput, description: descriptionInput.optional(), actions: actionsInput.default([]) }),
    response: apiRoleResponse,
    handle: async (context) =>
      respondRole(context, await createApiRole(context.administration, context.actor, known(context), context.body)),
    respondAgain: (context, { ids }) => respondRole(context, Number(ids[0])),
  }),
  resource({
    method: 'GET',
    path: '/api-roles/:id',
    summary: 'Read a role of the content API',
    who: action('read'),
    params: byId,
    response: apiRoleResponse,
    handle: (context) => respondRole(context, context.params.id),
  }),
  resource({
    method: 'PATCH',
    path: '/api-roles/:id',
    summary: 'Change a role of the content API',
    who: action('update'),
    isStrong: true,
    params: byId,
    body: z.strictObject({ name: nameInput.optional(), description: descriptionInput.optional(), actions: actionsInput.optional() }),
    response: apiRoleResponse,
    handle: async (context) => {
      const { administration, actor, params, body } = context
      await changeApiRole(administration, actor, known(context), params.id, body)
      return respondRole(context, params.id)
    },
  }),
  resource({
    method: 'DELETE',
    path: '/api-roles/:id',
    summary: 'Delete a role of the content API; its users get the public one',
    who: action('delete'),
    isStrong: true,
    params: byId,
    response: null,
    handle: async ({ administration, actor, params }) => {
      await deleteApiRole(administration, actor, params.id)
      return respondNothing()
    },
  }),
]

const shownUser = z.strictObject({
  id: z.int(),
  documentId: z.string().nullable(),
  username: z.string().nullable(),
  email: z.string().nullable(),
  provider: z.string().nullable(),
  isConfirmed: z.boolean(),
  isBlocked: z.boolean(),
  role: z.strictObject({ id: z.int(), name: z.string(), type: z.string() }).nullable(),
})
const userResponse = z.strictObject({ data: shownUser })

const uid = 'plugin::users-permissions.user'
const shownFields = ['username', 'email', 'provider', 'confirmed', 'blocked', 'role']
const writtenFields = ['username', 'email', 'password', 'confirmed', 'blocked', 'role']
/** A right of the content manager on users, with all fields that are shown or written here. */
const right = (name: string, fields: readonly string[]) => ({ action: `plugin::content-manager.explorer.${name}`, on: { uid, fields } })

const writing = ({ administration, installation, actor }: ResourceRequest) => ({ administration, actor, accounts: installation.accounts })

const values = {
  username: z.string().min(1).max(255),
  email: newEmail,
  password: z.string().min(1).max(1_000),
  isConfirmed: z.boolean(),
  isBlocked: z.boolean(),
  role: z.int().positive(),
}

async function respondUser({ administration }: ResourceRequest, id: number) {
  return respond({ data: await managedUser(administration.database, id) })
}

/** The resources of users. */
export const userResources: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/users',
    summary: 'List users of the content API',
    who: right('read', shownFields),
    query: z.strictObject(pageInput),
    response: z.strictObject({ data: z.array(shownUser), meta: pageMeta }),
    handle: async ({ administration, query: { after, limit } }) => {
      const rows = await managedUsers(administration.database, { after: parseCursor(after, 'users') ?? 0, limit: limit + 1 })
      const page = toPage(rows, limit, 'users', ({ id }) => id)
      return respond({ data: [...page.shown], meta: page.meta })
    },
  }),
  resource({
    method: 'POST',
    path: '/users',
    summary: 'Create a user',
    who: right('create', writtenFields),
    status: 201,
    body: z.strictObject({ ...values, isConfirmed: values.isConfirmed.default(true), isBlocked: values.isBlocked.default(false) }),
    response: userResponse,
    handle: async (context) => respondUser(context, await createManagedUser(writing(context), context.body)),
    respondAgain: (context, { ids }) => respondUser(context, Number(ids[0])),
  }),
  resource({
    method: 'GET',
    path: '/users/:id',
    summary: 'Read a user',
    who: right('read', shownFields),
    params: byId,
    response: userResponse,
    handle: (context) => respondUser(context, context.params.id),
  }),
  resource({
    method: 'PATCH',
    path: '/users/:id',
    summary: 'Change, block or unblock a user',
    who: right('update', writtenFields),
    params: byId,
    body: z.strictObject(values).partial(),
    response: userResponse,
    handle: async (context) => {
      await changeManagedUser(writing(context), context.params.id, context.body satisfies UserValues)
      return respondUser(context, context.params.id)
    },
  }),
  resource({
    method: 'DELETE',
    path: '/users/:id',
    summary: 'Delete a user',
    who: right('delete', []),
    params: byId,
    response: null,
    handle: async (context) => {
      await deleteManagedUser(writing(context), context.params.id)
      return respondNothing()
    },
  }),
]
