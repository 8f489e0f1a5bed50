// /roles/:id/rights: what a role allows, as one value with a revision.
import * as z from 'zod'
import { replaceRights, rightsOfRole } from '../../../admin/permissions/role.js'
import { readPermissions } from '../../../admin/permissions/rows.js'
import { answer, type Resource, type ResourceRequest, resource } from '../resource.js'
import { orPresent } from '../revisions.js'
import { byId } from '../values.js'

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
        ...{ action: z.string(), subject: z.string().nullable() },
        ...{ fields: z.array(z.string()).nullable(), locales: z.array(z.string()).nullable(), conditions: z.array(z.string()) },
      }),
    ),
  }),
})

async function respondRights({ administration, installation }: ResourceRequest, role: number) {
  const found = await rightsOfRole(administration.database, installation.model, role)
  const { revision, everything } = found
  const shown = found.rights.map(({ fields, locales, conditions, ...one }) => ({
    ...one,
    fields: fields === null ? null : [...fields],
    locales: locales === null ? null : [...locales],
    conditions: [...conditions],
  }))
  return answer({ data: { revision, everything, rights: shown } }, { etag: `"${revision}"` })
}

const readAction = 'admin::roles.read'

/** The resources of what roles allow. */
export const rightsResources: readonly Resource[] = [
  resource({
    ...{ method: 'GET', path: '/roles/:id/rights', summary: 'Read what a role allows', who: { action: readAction } },
    ...{ params: byId, answer: rights },
    handle: (asked) => respondRights(asked, asked.params.id),
  }),
  resource({
    ...{ method: 'PUT', path: '/roles/:id/rights', summary: 'Replace what a role allows', who: { action: 'admin::roles.update' } },
    ...{ isStrong: true, headers: { state: { of: 'the rights of the role' } } },
    ...{ params: byId, body: z.strictObject({ rights: z.array(right).max(10_000) }), answer: rights },
    handle: async (asked) => {
      const { administration, administrator, actor, installation, params, body, expected } = asked
      const { isSuperAdmin, roles, may } = administrator
      const rows = await readPermissions(
        administration.database,
        roles.map(({ id }) => id),
      )
      const wanted = { role: params.id, revisions: expected, rights: body.rights }
      return orPresent(
        may(readAction),
        () => replaceRights(administration, actor, { isSuperAdmin, rows, may }, installation.model, wanted),
        () => respondRights(asked, params.id),
      )
    },
  }),
]
