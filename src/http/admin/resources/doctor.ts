// /doctor: the consistency checks of `octavo doctor`.
import * as z from 'zod'
import { answer, type Resource, resource } from '../resource.js'

const check = z.strictObject({
  name: z.string(),
  verdict: z.enum(['ok', 'note', 'wrong']),
  severity: z.enum(['note', 'error']),
  count: z.int(),
  examples: z.array(z.string()),
  remedy: z.string().nullable().optional(),
})

/** The resource of the consistency checks. Findings name rows and files of everything there is, which no other right shows. */
export const doctorResources: readonly Resource[] = [
  resource({
    ...{ method: 'GET', path: '/doctor', summary: 'Check the database and the files, as octavo doctor does', who: 'superAdministrator' },
    refusals: [503],
    answer: z.strictObject({ data: z.strictObject({ sound: z.boolean(), checks: z.array(check) }) }),
    handle: async ({ parts, installation }) => {
      const { sound, checks } = await parts.backend.administration.doctor.examine(installation.model)
      return answer({ data: { sound, checks: checks.map((each) => ({ ...each, examples: [...each.examples] })) } })
    },
  }),
]
