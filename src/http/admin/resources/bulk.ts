// /bulk: one act on many documents. /jobs: those that go on behind a response.
import * as z from 'zod'
import { asParameters, type ListedBy } from '../../../admin/content/bulk.js'
import type { DocumentAction } from '../../../admin/content/document-writes.js'
import { checkPasswordAge } from '../../../admin/identity/password-age.js'
import {
  actOnMany,
  type BulkOutcome,
  type BulkRequest,
  type BulkResult,
  cancelJob,
  checkAct,
  findJob,
} from '../../../admin/jobs/bulk-request.js'
import type { BulkJob } from '../../../admin/jobs/job-rows.js'
import { contentOf, typeInput } from '../content.js'
import { type Answered, answer, type Resource, type ResourceRequest, resource } from '../resource.js'
import { byId, moment, momentOf, momentOrNull } from '../values.js'

const text = z.string()
const actions = { publish: 'publish', unpublish: 'unpublish', discard: 'discardDraft', delete: 'delete' } as const
const names = Object.fromEntries(Object.entries(actions).map(([name, action]) => [action, name])) as Readonly<
  Record<DocumentAction, keyof typeof actions>
>
const action = z.enum(['publish', 'unpublish', 'discard', 'delete'])
const localeInput = z.string().max(1_000)

const error = z.strictObject({
  status: z.int(),
  name: text,
  message: text,
  errors: z.array(z.strictObject({ path: z.array(text), message: text })),
})

const shownJob = z.strictObject({
  id: z.int(),
  action,
  type: text,
  locale: text.nullable(),
  state: z.enum(['waiting', 'running', 'done', 'canceled']),
  ...{ total: z.int(), done: z.int(), failed: z.int() },
  errors: z.array(z.strictObject({ documentId: text, error })),
  madeAt: moment,
  endedAt: moment.nullable(),
})
const jobAnswer = z.strictObject({ data: shownJob })

/** The documents of a list, as its query names them. */
const where = z.strictObject({
  filters: z.record(z.string(), z.unknown()).optional(),
  q: z.string().max(1_000).optional(),
  locale: localeInput.optional(),
  status: z.enum(['draft', 'published']).optional(),
  publicationFilter: z.string().max(100).optional(),
  hasPublishedVersion: z.boolean().optional(),
})

const body = z.strictObject({
  action,
  type: typeInput,
  /** The documents by their ids; otherwise those of a list. */
  documents: z.array(z.string().min(1).max(255)).min(1).optional(),
  where: where.optional(),
  /** Where the act is done: one locale, several separated by commas, or `*`; otherwise that of the list, or the default one. */
  locale: localeInput.optional(),
})

type ShownError = z.input<typeof error>

const errorOf = (error: NonNullable<BulkResult['error']>): ShownError => ({
  ...error,
  errors: error.errors.map(({ path, message }) => ({ path: [...path], message })),
})

function jobOf({ id, request, state, total, done, failed, errors, madeAt, endedAt }: BulkJob): z.input<typeof shownJob> {
  return {
    ...{ id, action: names[request.action], type: request.type, locale: request.locale, state, total, done, failed },
    errors: errors.map(({ documentId, error }) => ({ documentId, error: errorOf(error) })),
    ...{ madeAt: momentOf(madeAt), endedAt: momentOrNull(endedAt) },
  }
}

/** What a body asks for. */
function requestOf({ action: name, type, documents, where: listed, locale }: z.output<typeof body>): BulkRequest {
  return {
    ...{ action: actions[name], type, documents: documents ?? null },
    locale: locale ?? listed?.locale ?? null,
    where: listed === undefined ? null : (asParameters(listed) as ListedBy),
  }
}

const outcomeAnswer = z.strictObject({
  data: z.strictObject({
    results: z.array(z.strictObject({ documentId: text, error: error.nullable() })).nullable(),
    job: shownJob.nullable(),
  }),
})

function respondOutcome({ parts }: ResourceRequest, { results, job }: BulkOutcome): Answered<z.input<typeof outcomeAnswer>> {
  if (job === null) {
    const shown = results.map(({ documentId, error }) => ({ documentId, error: error === null ? null : errorOf(error) }))
    return answer({ data: { results: shown, job: null } })
  }
  parts.backend.administration.jobs.look()
  return { status: 202, value: { data: { results: null, job: jobOf(job) } } }
}

/** The resources of acts on many documents. */
export const bulkResources: readonly Resource[] = [
  resource({
    ...{ method: 'POST', path: '/bulk', summary: 'Publish, unpublish, discard or delete many documents, one by one' },
    ...{ who: 'byRoles', body, goesOn: true, refusals: [404, 429], answer: outcomeAnswer },
    admit: async (asked) => {
      const { administration, administrator, body: wanted } = asked
      await checkAct(await contentOf(asked), requestOf(wanted))
      if (wanted.action === 'delete') checkPasswordAge(administration, administrator)
    },
    handle: async (asked) => {
      const { keep, ...actor } = asked.actor
      const asker = { administratorId: asked.administrator.id, address: actor.address, keep }
      // What is done to one document does not keep the whole.
      const access = await contentOf({ ...asked, actor })
      return respondOutcome(asked, await actOnMany(asked.administration, access, asker, requestOf(asked.body)))
    },
    again: async (asked, { told }) => respondOutcome(asked, told as BulkOutcome),
  }),
  resource({
    ...{ method: 'GET', path: '/jobs/:id', summary: 'Read how far a job is', who: 'administrator', params: byId, answer: jobAnswer },
    handle: async ({ administration, administrator, params, parts }) => {
      const job = await findJob(administration, administrator, params.id)
      // Whoever has begun it may be gone.
      if (job.endedAt === null) parts.backend.administration.jobs.look()
      return answer({ data: jobOf(job) })
    },
  }),
  resource({
    ...{ method: 'DELETE', path: '/jobs/:id', summary: 'Cancel a job; what it has done stays', who: 'administrator' },
    ...{ params: byId, status: 200, answer: jobAnswer },
    handle: async ({ administration, administrator, actor, params }) =>
      answer({ data: jobOf(await cancelJob(administration, administrator, actor, params.id)) }),
  }),
]
