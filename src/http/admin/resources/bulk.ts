// /bulk: one action on many documents.
import * as z from 'zod'
import { actOnMany, type BulkRequest, type BulkResult, checkBulk, toParameters } from '../../../admin/content/bulk.js'
import { checkPasswordAge } from '../../../admin/identity/sign-in.js'
import type { Parameters } from '../../../query/request.js'
import { isClosed } from '../../connections.js'
import { contentAccess, documentErrorSchema, typeInput } from '../content.js'
import { type Resource, resource, respond } from '../resource.js'

const text = z.string()
const actions = { publish: 'publish', unpublish: 'unpublish', discard: 'discardDraft', delete: 'delete' } as const
const localeInput = z.string().max(1_000)

/** The documents of a list, with the parameters of its query. */
const where = z.strictObject({
  filters: z.record(z.string(), z.unknown()).optional(),
  q: z.string().max(1_000).optional(),
  locale: localeInput.optional(),
  status: z.enum(['draft', 'published']).optional(),
  publicationFilter: z.string().max(100).optional(),
  hasPublishedVersion: z.boolean().optional(),
})

const body = z.strictObject({
  action: z.enum(['publish', 'unpublish', 'discard', 'delete']),
  type: typeInput,
  /** The documents by their ids; otherwise those of a list. */
  documents: z.array(z.string().min(1).max(255)).min(1).optional(),
  where: where.optional(),
  /** One locale, several separated by commas, or `*`; otherwise that of the list, or the default one. */
  locale: localeInput.optional(),
})

const toRequest = ({ action, type, documents, where: listed, locale }: z.output<typeof body>): BulkRequest => ({
  action: actions[action],
  type,
  documents: documents ?? null,
  locale: locale ?? listed?.locale ?? null,
  where: listed === undefined ? null : (toParameters(listed, ['where']) as Parameters),
})

const resultsAnswer = z.strictObject({
  data: z.strictObject({
    results: z.array(z.strictObject({ documentId: text, name: text.nullable(), error: documentErrorSchema.nullable() })),
  }),
})

/** The resource of actions on many documents. */
export const bulkResources: readonly Resource[] = [
  resource({
    method: 'POST',
    path: '/bulk',
    summary: 'Publish, unpublish, discard or delete many documents, one by one',
    who: 'byRoles',
    body,
    refusals: [404],
    response: resultsAnswer,
    admit: async (context) => {
      await checkBulk(await contentAccess(context), toRequest(context.body))
      if (context.body.action === 'delete') checkPasswordAge(context.administration, context.administrator)
    },
    handle: async (context) => {
      const { store, ...actor } = context.actor
      const client = { isGone: () => isClosed(context.reply.raw), store }
      // The key of the request is stored with the results of all documents, not with the first write.
      const access = await contentAccess({ ...context, actor })
      return respond({ data: { results: await actOnMany(context.administration, access, client, toRequest(context.body)) } })
    },
    respondAgain: async (_context, { responseData }) => respond({ data: { results: responseData as readonly BulkResult[] } }),
  }),
]
