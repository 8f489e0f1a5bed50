// /roles: the roles of administrators. What a role allows is another resource.
import * as z from 'zod'
import {
  administratorRole,
  changeAdministratorRole,
  createAdministratorRole,
  deleteAdministratorRole,
  listAdministratorRoles,
} from '../../../admin/permissions/roles.js'
import { answer, nothing, type Resource, type ResourceRequest, resource } from '../resource.js'
import { byId, descriptionInput, nameInput } from '../values.js'

const shownRole = z.strictObject({
  id: z.int(),
  code: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  administrators: z.int(),
})
const one = z.strictObject({ data: shownRole })

async function respondRole({ administration }: ResourceRequest, id: number) {
  return answer({ data: await administratorRole(administration.database, id) })
}

/** The resources of the roles of administrators. */
export const roleResources: readonly Resource[] = [
  resource({
    ...{ method: 'GET', path: '/roles', summary: 'List the roles of administrators', who: { action: 'admin::roles.read' } },
    answer: z.strictObject({ data: z.array(shownRole) }),
    handle: async ({ administration }) => answer({ data: [...(await listAdministratorRoles(administration.database))] }),
  }),
  resource({
    ...{ method: 'POST', path: '/roles', summary: 'Create a role, which allows nothing', who: { action: 'admin::roles.create' } },
    ...{ status: 201, isStrong: true },
    body: z.strictObject({ name: nameInput, description: descriptionInput.optional() }),
    answer: one,
    handle: async (asked) => respondRole(asked, await createAdministratorRole(asked.administration, asked.actor, asked.body)),
    again: (asked, { ids }) => respondRole(asked, Number(ids[0])),
  }),
  resource({
    ...{ method: 'GET', path: '/roles/:id', summary: 'Read a role', who: { action: 'admin::roles.read' } },
    params: byId,
    answer: one,
    handle: (asked) => respondRole(asked, asked.params.id),
  }),
  resource({
    ...{ method: 'PATCH', path: '/roles/:id', summary: 'Change the name or description of a role', who: { action: 'admin::roles.update' } },
    isStrong: true,
    params: byId,
    body: z.strictObject({ name: nameInput.optional(), description: descriptionInput.optional() }),
    answer: one,
    handle: async (asked) => {
      const { administration, actor, params, body } = asked
      await changeAdministratorRole(administration, actor, params.id, body)
      return respondRole(asked, params.id)
    },
  }),
  resource({
    ...{ method: 'DELETE', path: '/roles/:id', summary: 'Delete a role that nobody has', who: { action: 'admin::roles.delete' } },
    isStrong: true,
    params: byId,
    answer: null,
    handle: async ({ administration, actor, params }) => {
      await deleteAdministratorRole(administration, actor, params.id)
      return nothing()
    },
  }),
]
