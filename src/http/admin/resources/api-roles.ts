// /api-roles and /api-actions: roles of the content API, and the actions that they can allow.
import * as z from 'zod'
import { apiRole, changeApiRole, createApiRole, deleteApiRole } from '../../../admin/manage/roles.js'
import { actionsOf, isUseless } from '../../../identity/access/actions.js'
import { listRoles, type Role } from '../../../identity/access/roles.js'
import { answer, nothing, type Resource, type ResourceRequest, resource } from '../resource.js'
import { byId, descriptionInput, nameInput } from '../values.js'

const shownRole = z.strictObject({
  id: z.int(),
  name: z.string(),
  type: z.string(),
  description: z.string().nullable(),
  users: z.int(),
  actions: z.array(z.string()),
})
const one = z.strictObject({ data: shownRole })
const shown = ({ actions, ...role }: Role): z.input<typeof shownRole> => ({ ...role, actions: [...actions] })

const actionsInput = z
  .array(z.string().max(255))
  .max(10_000)
  .transform((actions) => [...new Set(actions)])
const action = (name: string) => ({ action: `plugin::users-permissions.roles.${name}` })
const known = ({ installation, parts }: ResourceRequest) => ({ model: installation.model, config: parts.config })

async function respondRole({ administration }: ResourceRequest, id: number) {
  return answer({ data: shown(await apiRole(administration.database, id)) })
}

/** The resources of roles of the content API. */
export const apiRoleResources: readonly Resource[] = [
  resource({
    ...{ method: 'GET', path: '/api-actions', summary: 'List the actions that roles of the content API and custom tokens can allow' },
    who: 'administrator',
    answer: z.strictObject({ data: z.array(z.string()) }),
    handle: async (asked) => {
      const { model, config } = known(asked)
      const useless = isUseless(config)
      return answer({ data: [...actionsOf(model, config.routes)].filter((name) => !useless(name)).sort() })
    },
  }),
  resource({
    ...{ method: 'GET', path: '/api-roles', summary: 'List the roles of the content API', who: action('read') },
    answer: z.strictObject({ data: z.array(shownRole) }),
    handle: async ({ administration }) => answer({ data: (await listRoles(administration.database)).map(shown) }),
  }),
  resource({
    ...{ method: 'POST', path: '/api-roles', summary: 'Create a role of the content API', who: action('create') },
    ...{ status: 201, isStrong: true },
    body: z.strictObject({ name: nameInput, description: descriptionInput.optional(), actions: actionsInput.default([]) }),
    answer: one,
    handle: async (asked) => respondRole(asked, await createApiRole(asked.administration, asked.actor, known(asked), asked.body)),
    again: (asked, { ids }) => respondRole(asked, Number(ids[0])),
  }),
  resource({
    ...{ method: 'GET', path: '/api-roles/:id', summary: 'Read a role of the content API', who: action('read') },
    params: byId,
    answer: one,
    handle: (asked) => respondRole(asked, asked.params.id),
  }),
  resource({
    ...{ method: 'PATCH', path: '/api-roles/:id', summary: 'Change a role of the content API', who: action('update'), isStrong: true },
    params: byId,
    body: z.strictObject({ name: nameInput.optional(), description: descriptionInput.optional(), actions: actionsInput.optional() }),
    answer: one,
    handle: async (asked) => {
      const { administration, actor, params, body } = asked
      await changeApiRole(administration, actor, known(asked), params.id, body)
      return respondRole(asked, params.id)
    },
  }),
  resource({
    ...{ method: 'DELETE', path: '/api-roles/:id', summary: 'Delete a role of the content API; its users get the public one' },
    ...{ who: action('delete'), isStrong: true },
    params: byId,
    answer: null,
    handle: async ({ administration, actor, params }) => {
      await deleteApiRole(administration, actor, params.id)
      return nothing()
    },
  }),
]
