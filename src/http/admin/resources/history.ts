// /content/…/history: stored versions of documents, and their restoration.
import * as z from 'zod'
import { type HistoryVersion, listHistory, readHistory, restoreHistory } from '../../../admin/content/history.js'
import { pageInput, pageMeta, parseCursor, rowIdInput, timestamp, toPage, toTimestamp } from '../../../admin/values.js'
import {
  admitTo,
  byDocument,
  contentAccess,
  documentSchema,
  documentState,
  localeQuery,
  orStale,
  parseDocumentName,
  respondDocument,
  respondNamed,
} from '../content.js'
import { type Resource, resource, respond } from '../resource.js'

const name = z.string().nullable()
const version = {
  id: z.int(),
  at: timestamp,
  status: z.string(),
  administrator: z.strictObject({ id: z.int(), firstname: name, lastname: name }).nullable(),
}
const shown = ({ id, createdAt: madeAt, status, by }: HistoryVersion) => ({ id, at: toTimestamp(madeAt), status, administrator: by })
const byVersion = byDocument.extend({ id: rowIdInput })

/** The resources of the history. */
export const historyResources: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/content/:type/:document/history',
    summary: 'List stored versions of a document, the latest first',
    who: 'byRoles',
    refusals: [501],
    params: byDocument,
    query: localeQuery.extend(pageInput),
    response: z.strictObject({ data: z.array(z.strictObject(version)), meta: pageMeta }),
    handle: async (context) => {
      const { after, limit, locale } = context.query
      const access = await contentAccess(context)
      const document = await parseDocumentName(access, context.params, { locale })
      const list = ['history', document.type.uid, document.documentId, document.locale]
      const page = toPage(
        await listHistory(access, document, { before: parseCursor(after, list), limit: limit + 1 }),
        limit,
        list,
        ({ id }) => id,
      )
      return respond({ data: page.shown.map(shown), meta: page.meta })
    },
  }),
  resource({
    method: 'GET',
    path: '/content/:type/:document/history/:id',
    summary: 'Read a stored version of a document',
    who: 'byRoles',
    refusals: [501],
    params: byVersion,
    query: localeQuery,
    response: z.strictObject({ data: z.strictObject({ ...version, data: z.looseObject({}) }) }),
    handle: async (context) => {
      const access = await contentAccess(context)
      const { id, ...params } = context.params
      const { data, ...kept } = await readHistory(access, await parseDocumentName(access, params, context.query), id)
      return respond({ data: { ...shown(kept), data } })
    },
  }),
  resource({
    method: 'POST',
    path: '/content/:type/:document/history/:id/restore',
    summary: 'Give a draft what a version had',
    who: 'byRoles',
    headers: documentState,
    refusals: [501],
    params: byVersion,
    query: localeQuery,
    response: documentSchema,
    body: z.strictObject({ fields: z.array(z.string().min(1).max(255)).min(1).max(1_000).optional() }),
    admit: admitTo('update'),
    handle: async (context) => {
      const access = await contentAccess(context)
      const { id, ...params } = context.params
      const document = await parseDocumentName(access, params, context.query)
      return orStale(access, document, async () => {
        await restoreHistory(access, document, id, { fields: context.body.fields ?? null, expected: context.expected })
        return respondDocument(access, document) as never
      })
    },
    respondAgain: (context) => respondNamed(context) as never,
  }),
]
