// /schedule: publications of documents and their withdrawal at a later time.
import * as z from 'zod'
import { readableType } from '../../../admin/content/content-access.js'
import { localeStates } from '../../../admin/content/document-view.js'
import { cancelAction, scheduleAction } from '../../../admin/content/scheduled-actions.js'
import { listScheduled, scheduledFor, scheduledVerbs } from '../../../admin/content/scheduled-view.js'
import { notFound } from '../../../foundation/errors/errors.js'
import { byDocument, contentAccess, type DocumentRequest, linkSchema, localesQuery, scheduledSchema } from '../content.js'
import { type Resource, resource, respond, respondNothing } from '../resource.js'

const path = '/content/:type/:document/schedule'
const action = z.enum(scheduledVerbs)
const ofDocument = z.strictObject({ data: z.array(scheduledSchema) })

const listed = scheduledSchema.extend({
  ...linkSchema.pick({ type: true, documentId: true, state: true, name: true }).shape,
  displayName: z.string(),
})

/** The document of a request. */
const documentOf = async (context: DocumentRequest) => {
  const access = await contentAccess(context)
  const { params, query } = context
  return { access, document: { type: readableType(access, params.type), documentId: params.document, locale: query.locale } }
}

async function respondScheduled({ access, document: { type, documentId } }: Awaited<ReturnType<typeof documentOf>>) {
  const locales = (await localeStates(access, type, documentId)).map(({ locale }) => locale)
  if (locales.length === 0) throw notFound()
  return respond({ data: await scheduledFor(access, type, documentId, locales) })
}

/** The resources of scheduled actions. */
export const scheduleResources: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/schedule',
    summary: 'List scheduled and refused actions, the earliest first',
    who: 'byRoles',
    response: z.strictObject({ data: z.array(listed), meta: z.strictObject({ isComplete: z.boolean() }) }),
    handle: async (context) => {
      const { actions, isComplete } = await listScheduled(await contentAccess(context))
      return respond({ data: actions, meta: { isComplete } })
    },
  }),
  resource({
    method: 'GET',
    path,
    summary: 'List scheduled actions on a document',
    who: 'byRoles',
    params: byDocument,
    response: ofDocument,
    handle: async (context) => respondScheduled(await documentOf({ ...context, query: { locale: undefined } })),
  }),
  resource({
    method: 'PUT',
    path,
    summary: 'Schedule a publication, or its withdrawal, in one or several locales',
    who: 'byRoles',
    params: byDocument,
    query: localesQuery,
    body: z.strictObject({
      action,
      at: z.iso.datetime({ offset: true }).describe('When it is carried out, by the clock of the database'),
    }),
    response: ofDocument,
    handle: async (context) => {
      const opened = await documentOf(context)
      const { action: verb, at } = context.body
      await scheduleAction(context.administration, opened.access, opened.document, verb, Date.parse(at))
      return respondScheduled(opened)
    },
  }),
  resource({
    method: 'DELETE',
    path,
    summary: 'Cancel a scheduled action, or remove the note that it was refused',
    who: 'byRoles',
    params: byDocument,
    query: localesQuery.extend({ action: action.default('publish') }),
    response: null,
    handle: async (context) => {
      const { access, document } = await documentOf(context)
      await cancelAction(context.administration, access, document, context.query.action)
      return respondNothing()
    },
  }),
]
