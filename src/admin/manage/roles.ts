// Roles of the content API: operations of the administration.

import * as z from 'zod'
import type { RowReader } from '../../database/database.js'
import { notFound } from '../../foundation/errors/errors.js'
import { actionsOf, isUseless } from '../../identity/access/actions.js'
import { createRole, deleteRole, listRoles, type Role, updateRole } from '../../identity/access/roles.js'
import { nameTaken } from '../error-paths.js'
import { descriptionInput, nameInput } from '../values.js'
import { act, type OperationContext, operation } from './operation.js'
import { checkGrantable } from './tokens.js'

const shownRole = z.strictObject({
  id: z.int(),
  name: z.string(),
  type: z.string(),
  description: z.string().nullable(),
  users: z.int(),
  actions: z.array(z.string()),
})
const roleResponse = z.strictObject({ data: shownRole })

const actionsInput = z
  .array(z.string().max(255))
  .max(10_000)
  .transform((actions) => [...new Set(actions)])
const right = (name: string) => ({ action: `plugin::users-permissions.roles.${name}` })
const audited = (action: string) => ({ action, subject: 'api-role' })

/** @throws ApiError 404 */
async function readRole(database: RowReader, id: number): Promise<Role> {
  const found = (await listRoles(database)).find((role) => role.id === id)
  if (found === undefined) throw notFound('Role not found')
  return found
}

const respondRole = async ({ database }: OperationContext, id: number) => ({ data: await readRole(database, id) })

/** The operations on roles of the content API. */
export const roles = {
  listActions: operation({
    route: 'GET /api-actions',
    summary: 'List the actions that roles of the content API and custom tokens can allow',
    rights: 'administrator',
    output: z.strictObject({ data: z.array(z.string()) }),
    respond: async ({ model, config }) => {
      const useless = isUseless(config)
      return { data: [...actionsOf(model, config.routes)].filter((name) => !useless(name)).sort() }
    },
  }),
  list: operation({
    route: 'GET /api-roles',
    summary: 'List the roles of the content API',
    rights: right('read'),
    output: z.strictObject({ data: z.array(shownRole) }),
    respond: async ({ database }) => ({ data: await listRoles(database) }),
  }),
  create: operation({
    route: 'POST /api-roles',
    summary: 'Create a role of the content API',
    rights: right('create'),
    isStrong: true,
    input: z.strictObject({ name: nameInput, description: descriptionInput.optional(), actions: actionsInput.default([]) }),
    output: roleResponse,
    audit: audited('create'),
    run: async (context, values) => {
      checkGrantable(context, values.actions)
      return act(context, async (transaction, now) => {
        const id = await createRole(transaction, context.model, values, now)
        return { id: String(id), name: values.name }
      })
    },
    respond: (context, _input, { id }) => respondRole(context, Number(id)),
  }),
  read: operation({
    route: 'GET /api-roles/:id',
    summary: 'Read a role of the content API',
    rights: right('read'),
    output: roleResponse,
    respond: (context, { id }) => respondRole(context, id),
  }),
  update: operation({
    route: 'PATCH /api-roles/:id',
    summary: 'Change a role of the content API',
    rights: right('update'),
    isStrong: true,
    input: z.strictObject({ name: nameInput.optional(), description: descriptionInput.optional(), actions: actionsInput.optional() }),
    output: roleResponse,
    audit: audited('update'),
    run: (context, { id, ...values }) =>
      act(context, async (transaction, now) => {
        const all = await listRoles(transaction)
        const before = all.find((role) => role.id === id)
        if (before === undefined) throw notFound('Role not found')
        // Unknown actions that the role already has may stay.
        checkGrantable(
          context,
          (values.actions ?? []).filter((action) => !before.actions.includes(action)),
        )
        if (values.name !== undefined && all.some((role) => role.name === values.name && role.id !== id)) throw nameTaken('role')
        await updateRole(transaction, context.model, id, values, now)
        return { id: String(id), name: before.name, fields: Object.keys(values) }
      }),
    respond: (context, { id }) => respondRole(context, id),
  }),
  delete: operation({
    route: 'DELETE /api-roles/:id',
    summary: 'Delete a role of the content API; its users get the public one',
    rights: right('delete'),
    isStrong: true,
    output: null,
    audit: audited('delete'),
    run: (context, { id }) =>
      act(context, async (transaction) => {
        const { name } = await readRole(transaction, id)
        await deleteRole(transaction, id)
        return { id: String(id), name }
      }),
  }),
}
