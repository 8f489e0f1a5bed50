// /admins and /roles: administrators, their roles, and the rights of roles.

import * as z from 'zod'
import {
  type AdminUser,
  changeAdminUser,
  changeOwnNames,
  deleteAdminUser,
  type Invitation,
  inviteAdministrator,
  inviteAgain,
  listAdministrators,
  readAdminUser,
} from '../../../admin/identity/admin-users.js'
import { readPermissions } from '../../../admin/permissions/permissions.js'
import {
  administratorRole,
  changeAdministratorRole,
  createAdministratorRole,
  deleteAdministratorRole,
  listAdministratorRoles,
  readRoleRights,
  replaceRights,
} from '../../../admin/permissions/roles.js'
import {
  byId,
  descriptionInput,
  nameInput,
  newEmail,
  pageInput,
  pageMeta,
  parseCursor,
  personName,
  timestamp,
  toPage,
  toTimestamp,
} from '../../../admin/values.js'
import { type Resource, type ResourceRequest, resource, respond, respondNothing } from '../resource.js'
import { orCurrent } from '../revisions.js'

const roleOfAdmin = z.strictObject({ id: z.int(), code: z.string(), name: z.string() })

/** An administrator in a response. */
const shownAdmin = z.strictObject({
  id: z.int(),
  documentId: z.string().nullable(),
  email: z.string(),
  firstname: z.string().nullable(),
  lastname: z.string().nullable(),
  language: z.string().nullable(),
  isActive: z.boolean(),
  isBlocked: z.boolean(),
  /** Has not accepted the invitation. */
  isInvited: z.boolean(),
  roles: z.array(roleOfAdmin),
})

const shown = ({ row, roles }: AdminUser): z.input<typeof shownAdmin> => ({
  id: row.id,
  documentId: row.document_id,
  email: row.email ?? '',
  firstname: row.firstname,
  lastname: row.lastname,
  language: row.prefered_language,
  isActive: row.is_active === 1,
  isBlocked: row.blocked === 1,
  isInvited: row.password === null,
  roles: roles.map(({ id, code, name }) => ({ id, code, name })),
})

const roleIds = z
  .array(z.int().positive())
  .max(100)
  .transform((ids) => [...new Set(ids)])
const shownInvitation = z.strictObject({ link: z.string(), expiresAt: timestamp })
const invitationOf = ({ link, expiresAt }: Invitation) => ({ link, expiresAt: toTimestamp(expiresAt) })
const language = z.string().min(1).max(35).nullable()
const adminResponse = z.strictObject({ data: shownAdmin })

/** An administrator who was invited as a response. */
async function respondInvited(
  { administration }: ResourceRequest,
  { id, invitation }: { readonly id: number; readonly invitation: Invitation },
) {
  return respond({ data: shown(await readAdminUser(administration.database, id)), invitation: invitationOf(invitation) })
}

/** The resources of administrators. */
export const adminResources: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/admins',
    summary: 'List administrators',
    who: { action: 'admin::users.read' },
    query: z.strictObject(pageInput),
    response: z.strictObject({ data: z.array(shownAdmin), meta: pageMeta }),
    handle: async ({ administration, query: { after, limit } }) => {
      const rows = await listAdministrators(administration.database, { after: parseCursor(after, 'admins') ?? 0, limit: limit + 1 })
      const page = toPage(rows, limit, 'admins', ({ row }) => row.id)
      return respond({ data: page.shown.map(shown), meta: page.meta })
    },
  }),
  resource({
    method: 'POST',
    path: '/admins',
    summary: 'Invite an administrator; the link is shown once',
    who: { action: 'admin::users.create' },
    status: 201,
    isStrong: true,
    isSecret: true,
    body: z.strictObject({
      email: newEmail,
      firstname: personName,
      lastname: personName.nullable().default(null),
      roles: roleIds,
      sendsEmail: z.boolean().default(true),
    }),
    response: z.strictObject({ data: shownAdmin, invitation: shownInvitation }),
    handle: async (context) => respondInvited(context, await inviteAdministrator(context.administration, context, context.body)),
    respondAgain: (context, { ids, responseData: told }) => respondInvited(context, { id: Number(ids[0]), invitation: told as Invitation }),
  }),
  resource({
    method: 'GET',
    path: '/admins/:id',
    summary: 'Read an administrator',
    who: { action: 'admin::users.read' },
    params: byId,
    response: adminResponse,
    handle: async ({ administration, params }) => respond({ data: shown(await readAdminUser(administration.database, params.id)) }),
  }),
  resource({
    method: 'PATCH',
    path: '/admins/:id',
    summary: 'Change, block or unblock an administrator',
    who: { action: 'admin::users.update' },
    isStrong: true,
    params: byId,
    body: z.strictObject({
      email: newEmail.optional(),
      firstname: personName.optional(),
      lastname: personName.nullable().optional(),
      language: language.optional(),
      isActive: z.boolean().optional(),
      isBlocked: z.boolean().optional(),
      roles: roleIds.optional(),
    }),
    response: adminResponse,
    handle: async (context) =>
      respond({ data: shown(await changeAdminUser(context.administration, context, context.params.id, context.body)) }),
  }),
  resource({
    method: 'DELETE',
    path: '/admins/:id',
    summary: 'Delete an administrator',
    who: { action: 'admin::users.delete' },
    isStrong: true,
    params: byId,
    response: null,
    handle: async (context) => {
      await deleteAdminUser(context.administration, context, context.params.id)
      return respondNothing()
    },
  }),
  resource({
    method: 'POST',
    path: '/admins/:id/invitation',
    summary: 'Invite again; the former link is void',
    who: { action: 'admin::users.create' },
    isStrong: true,
    isSecret: true,
    params: byId,
    body: z.strictObject({ sendsEmail: z.boolean().default(true) }),
    response: z.strictObject({ data: shownInvitation }),
    handle: async (context) => {
      const { params, body } = context
      return respond({ data: invitationOf(await inviteAgain(context.administration, context, params.id, body.sendsEmail)) })
    },
    respondAgain: async (_context, { responseData: told }) => respond({ data: invitationOf(told as Invitation) }),
  }),
  resource({
    method: 'GET',
    path: '/me',
    summary: 'Read my own account',
    who: 'administrator',
    response: adminResponse,
    handle: async ({ administration, administrator }) =>
      respond({ data: shown(await readAdminUser(administration.database, administrator.id)) }),
  }),
  resource({
    method: 'PATCH',
    path: '/me',
    summary: 'Change my own names and language',
    who: 'administrator',
    body: z.strictObject({
      firstname: personName.optional(),
      lastname: personName.nullable().optional(),
      language: language.optional(),
    }),
    response: adminResponse,
    handle: async ({ administration, administrator, actor, body }) => {
      await changeOwnNames(administration, actor, administrator, body)
      return respond({ data: shown(await readAdminUser(administration.database, administrator.id)) })
    },
  }),
]

const shownRole = z.strictObject({
  id: z.int(),
  code: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  administrators: z.int(),
})
const roleResponse = z.strictObject({ data: shownRole })

async function respondRole({ administration }: ResourceRequest, id: number) {
  return respond({ data: await administratorRole(administration.database, id) })
}

/** The resources of the roles of administrators. */
export const roleResources: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/roles',
    summary: 'List the roles of administrators',
    who: { action: 'admin::roles.read' },
    response: z.strictObject({ data: z.array(shownRole) }),
    handle: async ({ administration }) => respond({ data: [...(await listAdministratorRoles(administration.database))] }),
  }),
  resource({
    method: 'POST',
    path: '/roles',
    summary: 'Create a role, which allows nothing',
    who: { action: 'admin::roles.create' },
    status: 201,
    isStrong: true,
    body: z.strictObject({ name: nameInput, description: descriptionInput.optional() }),
    response: roleResponse,
    handle: async (context) => respondRole(context, await createAdministratorRole(context.administration, context.actor, context.body)),
    respondAgain: (context, { ids }) => respondRole(context, Number(ids[0])),
  }),
  resource({
    method: 'GET',
    path: '/roles/:id',
    summary: 'Read a role',
    who: { action: 'admin::roles.read' },
    params: byId,
    response: roleResponse,
    handle: (context) => respondRole(context, context.params.id),
  }),
  resource({
    method: 'PATCH',
    path: '/roles/:id',
    summary: 'Change the name or description of a role',
    who: { action: 'admin::roles.update' },
    isStrong: true,
    params: byId,
    body: z.strictObject({ name: nameInput.optional(), description: descriptionInput.optional() }),
    response: roleResponse,
    handle: async (context) => {
      const { administration, actor, params, body } = context
      await changeAdministratorRole(administration, actor, params.id, body)
      return respondRole(context, params.id)
    },
  }),
  resource({
    method: 'DELETE',
    path: '/roles/:id',
    summary: 'Delete an unused role',
    who: { action: 'admin::roles.delete' },
    isStrong: true,
    params: byId,
    response: null,
    handle: async ({ administration, actor, params }) => {
      await deleteAdministratorRole(administration, actor, params.id)
      return respondNothing()
    },
  }),
]

const name = z.string().min(1).max(255)

const right = z.strictObject({
  action: name,
  subject: name.nullable().default(null),
  fields: z.array(z.string().min(1).max(500)).max(5_000).nullable().default(null),
  locales: z.array(z.string().min(1).max(100)).max(1_000).nullable().default(null),
  conditions: z.array(name).max(100).default([]),
})

const rights = z.strictObject({
  data: z.strictObject({
    revision: z.string(),
    everything: z.boolean(),
    rights: z.array(
      z.strictObject({
        action: z.string(),
        subject: z.string().nullable(),
        fields: z.array(z.string()).nullable(),
        locales: z.array(z.string()).nullable(),
        conditions: z.array(z.string()),
      }),
    ),
  }),
})

async function respondRights({ administration, installation }: ResourceRequest, role: number) {
  const found = await readRoleRights(administration.database, installation.model, role)
  const { revision, everything } = found
  const shown = found.rights.map(({ fields, locales, conditions, ...one }) => ({
    ...one,
    fields: fields === null ? null : [...fields],
    locales: locales === null ? null : [...locales],
    conditions: [...conditions],
  }))
  return respond({ data: { revision, everything, rights: shown } }, { etag: `"${revision}"` })
}

const readAction = 'admin::roles.read'

/** The resources of what roles allow. */
export const rightsResources: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/roles/:id/rights',
    summary: 'Read what a role allows',
    who: { action: readAction },
    params: byId,
    response: rights,
    handle: (context) => respondRights(context, context.params.id),
  }),
  resource({
    method: 'PUT',
    path: '/roles/:id/rights',
    summary: 'Replace what a role allows',
    who: { action: 'admin::roles.update' },
    isStrong: true,
    headers: { state: { of: 'the rights of the role' } },
    params: byId,
    body: z.strictObject({ rights: z.array(right).max(10_000) }),
    response: rights,
    handle: async (context) => {
      const { administration, administrator, actor, installation, params, body, expected } = context
      const { isSuperAdmin, roles, may } = administrator
      const rows = await readPermissions(
        administration.database,
        roles.map(({ id }) => id),
      )
      const wanted = { role: params.id, revisions: expected, rights: body.rights }
      return orCurrent(
        may(readAction),
        () => replaceRights(administration, actor, { isSuperAdmin, rows, may }, installation.model, wanted),
        () => respondRights(context, params.id),
      )
    },
  }),
]
