// /admins and /me: administrators, their invitations, and one's own account.
import * as z from 'zod'
import { listAdministrators } from '../../../admin/identity/listed.js'
import { changeOwnNames } from '../../../admin/identity/own-account.js'
import {
  changeTeamMember,
  deleteTeamMember,
  type Invitation,
  inviteAdministrator,
  inviteAgain,
  type TeamMember,
  teamMember,
} from '../../../admin/identity/team.js'
import { idOfCursor, pageOf } from '../cursors.js'
import { answer, nothing, type Resource, type ResourceRequest, resource } from '../resource.js'
import { byId, moment, momentOf, newEmail, pageInput, pageMeta, personName } from '../values.js'

const shownRole = z.strictObject({ id: z.int(), code: z.string(), name: z.string() })

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
  roles: z.array(shownRole),
})

const shown = ({ row, roles }: TeamMember): z.input<typeof shownAdmin> => ({
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
const shownInvitation = z.strictObject({ link: z.string(), expiresAt: moment })
const invitationOf = ({ link, expiresAt }: Invitation) => ({ link, expiresAt: momentOf(expiresAt) })
const language = z.string().min(1).max(35).nullable()
const one = z.strictObject({ data: shownAdmin })

/** An administrator who was invited as a response. */
async function respondInvited(
  { administration }: ResourceRequest,
  { id, invitation }: { readonly id: number; readonly invitation: Invitation },
) {
  return answer({ data: shown(await teamMember(administration.database, id)), invitation: invitationOf(invitation) })
}

/** The resources of administrators. */
export const adminResources: readonly Resource[] = [
  resource({
    ...{ method: 'GET', path: '/admins', summary: 'List administrators', who: { action: 'admin::users.read' } },
    query: z.strictObject(pageInput),
    answer: z.strictObject({ data: z.array(shownAdmin), meta: pageMeta }),
    handle: async ({ administration, query: { after, limit } }) => {
      const rows = await listAdministrators(administration.database, { after: idOfCursor(after, 'admins') ?? 0, limit: limit + 1 })
      const page = pageOf(rows, limit, 'admins', ({ row }) => row.id)
      return answer({ data: page.shown.map(shown), meta: page.meta })
    },
  }),
  resource({
    ...{
      method: 'POST',
      path: '/admins',
      summary: 'Invite an administrator; the link is shown once',
      who: { action: 'admin::users.create' },
    },
    ...{ status: 201, isStrong: true, isSecret: true },
    body: z.strictObject({
      email: newEmail,
      firstname: personName,
      lastname: personName.nullable().default(null),
      roles: roleIds,
      sendsEmail: z.boolean().default(true),
    }),
    answer: z.strictObject({ data: shownAdmin, invitation: shownInvitation }),
    handle: async (asked) => respondInvited(asked, await inviteAdministrator(asked.administration, asked, asked.body)),
    again: (asked, { ids, told }) => respondInvited(asked, { id: Number(ids[0]), invitation: told as Invitation }),
  }),
  resource({
    ...{ method: 'GET', path: '/admins/:id', summary: 'Read an administrator', who: { action: 'admin::users.read' } },
    params: byId,
    answer: one,
    handle: async ({ administration, params }) => answer({ data: shown(await teamMember(administration.database, params.id)) }),
  }),
  resource({
    ...{
      method: 'PATCH',
      path: '/admins/:id',
      summary: 'Change, block or unblock an administrator',
      who: { action: 'admin::users.update' },
    },
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
    answer: one,
    handle: async (asked) => answer({ data: shown(await changeTeamMember(asked.administration, asked, asked.params.id, asked.body)) }),
  }),
  resource({
    ...{
      method: 'DELETE',
      path: '/admins/:id',
      summary: 'Delete an administrator',
      who: { action: 'admin::users.delete' },
      isStrong: true,
    },
    params: byId,
    answer: null,
    handle: async (asked) => {
      await deleteTeamMember(asked.administration, asked, asked.params.id)
      return nothing()
    },
  }),
  resource({
    ...{
      method: 'POST',
      path: '/admins/:id/invitation',
      summary: 'Invite again; the former link is void',
      who: { action: 'admin::users.create' },
    },
    ...{ isStrong: true, isSecret: true },
    params: byId,
    body: z.strictObject({ sendsEmail: z.boolean().default(true) }),
    answer: z.strictObject({ data: shownInvitation }),
    handle: async (asked) => {
      const { params, body } = asked
      return answer({ data: invitationOf(await inviteAgain(asked.administration, asked, params.id, body.sendsEmail)) })
    },
    again: async (_asked, { told }) => answer({ data: invitationOf(told as Invitation) }),
  }),
  resource({
    ...{ method: 'GET', path: '/me', summary: 'Read my own account', who: 'administrator' },
    answer: one,
    handle: async ({ administration, administrator }) =>
      answer({ data: shown(await teamMember(administration.database, administrator.id)) }),
  }),
  resource({
    ...{ method: 'PATCH', path: '/me', summary: 'Change my own names and language', who: 'administrator' },
    body: z.strictObject({
      firstname: personName.optional(),
      lastname: personName.nullable().optional(),
      language: language.optional(),
    }),
    answer: one,
    handle: async ({ administration, administrator, actor, body }) => {
      await changeOwnNames(administration, actor, administrator, body)
      return answer({ data: shown(await teamMember(administration.database, administrator.id)) })
    },
  }),
]
