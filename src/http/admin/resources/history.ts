// /content/…/history: stored versions of documents, and their restoration.
import * as z from 'zod'
import { compareVersions, type HistoryVersion, listHistory, readHistory, restoreHistory } from '../../../admin/content/history.js'
import { pageInput, pageMeta, parseCursor, rowIdInput, timestamp, toPage, toTimestamp } from '../../../admin/values.js'
import { admitTo, byDocument, documentSchema, documentState, localeQuery, openDocument, respondNamed, respondWritten } from '../content.js'
import { type Resource, resource, respond } from '../resource.js'

const personName = z.string().nullable()
const version = {
  id: z.int(),
  at: timestamp,
  status: z.string(),
  administrator: z.strictObject({ id: z.int(), firstname: personName, lastname: personName }).nullable(),
}
const shown = ({ id, createdAt: madeAt, status, by }: HistoryVersion) => ({ id, at: toTimestamp(madeAt), status, administrator: by })
/** `changed` null: there is no version before this one, or they are too large to compare. */
const listed = z.strictObject({ ...version, changed: z.array(z.string()).nullable() })
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
    response: z.strictObject({ data: z.array(listed), meta: pageMeta }),
    handle: async (context) => {
      const { after, limit } = context.query
      const { access, name } = await openDocument(context)
      const list = ['history', name.type.uid, name.documentId, name.locale]
      const rows = await listHistory(access, name, { before: parseCursor(after, list), limit: limit + 1 })
      const page = toPage(rows, limit, list, ({ id }) => id)
      const changedIn = await compareVersions(access, name, rows)
      return respond({ data: page.shown.map((one) => ({ ...shown(one), changed: changedIn(one.id) })), meta: page.meta })
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
      const { access, name } = await openDocument(context)
      const { data, ...kept } = await readHistory(access, name, context.params.id)
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
      const { params, body, expected } = context
      const { access, name } = await openDocument(context)
      return respondWritten(access, name, () => restoreHistory(access, name, params.id, { fields: body.fields ?? null, expected }))
    },
    respondAgain: respondNamed,
  }),
]
