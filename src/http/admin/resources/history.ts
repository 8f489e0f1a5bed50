// The history of documents: versions that were kept, and giving them back.
import * as z from 'zod'
import { type KeptVersion, listHistory, readHistory, restoreHistory } from '../../../admin/content/history.js'
import {
  admitTo,
  byDocument,
  contentOf,
  documentAnswer,
  documentNamed,
  documentResponse,
  localeQuery,
  namedResponse,
  ofDocument,
  orChanged,
} from '../content.js'
import { idOfCursor, pageOf } from '../cursors.js'
import { answer, type Resource, resource } from '../resource.js'
import { moment, momentOf, pageInput, pageMeta, rowIdInput } from '../values.js'

const name = z.string().nullable()
const version = {
  id: z.int(),
  at: moment,
  status: z.string(),
  administrator: z.strictObject({ id: z.int(), firstname: name, lastname: name }).nullable(),
}
const shown = ({ id, madeAt, status, by }: KeptVersion) => ({ id, at: momentOf(madeAt), status, administrator: by })
const byVersion = byDocument.extend({ id: rowIdInput })

/** The resources of the history. */
export const historyResources: readonly Resource[] = [
  resource({
    ...{ method: 'GET', path: '/content/:type/:document/history', summary: 'List versions of a document that were kept, the latest first' },
    ...{ who: 'byRoles', refusals: [501], params: byDocument, query: localeQuery.extend(pageInput) },
    answer: z.strictObject({ data: z.array(z.strictObject(version)), meta: pageMeta }),
    handle: async (asked) => {
      const { after, limit, locale } = asked.query
      const access = await contentOf(asked)
      const document = await documentNamed(access, asked.params, { locale })
      const list = ['history', document.type.uid, document.documentId, document.locale]
      const page = pageOf(
        await listHistory(access, document, { before: idOfCursor(after, list), limit: limit + 1 }),
        limit,
        list,
        ({ id }) => id,
      )
      return answer({ data: page.shown.map(shown), meta: page.meta })
    },
  }),
  resource({
    ...{ method: 'GET', path: '/content/:type/:document/history/:id', summary: 'Read a version of a document that was kept' },
    ...{ who: 'byRoles', refusals: [501], params: byVersion, query: localeQuery },
    answer: z.strictObject({ data: z.strictObject({ ...version, data: z.looseObject({}) }) }),
    handle: async (asked) => {
      const access = await contentOf(asked)
      const { id, ...params } = asked.params
      const { data, ...kept } = await readHistory(access, await documentNamed(access, params, asked.query), id)
      return answer({ data: { ...shown(kept), data } })
    },
  }),
  resource({
    ...{ method: 'POST', path: '/content/:type/:document/history/:id/restore', summary: 'Give a draft what a version had' },
    ...{ who: 'byRoles', headers: ofDocument, refusals: [501], params: byVersion, query: localeQuery, answer: documentAnswer },
    body: z.strictObject({ fields: z.array(z.string().min(1).max(255)).min(1).max(1_000).optional() }),
    admit: admitTo('update'),
    handle: async (asked) => {
      const access = await contentOf(asked)
      const { id, ...params } = asked.params
      const document = await documentNamed(access, params, asked.query)
      return orChanged(access, document, async () => {
        await restoreHistory(access, document, id, { fields: asked.body.fields ?? null, expected: asked.expected })
        return documentResponse(access, document) as never
      })
    },
    again: (asked) => namedResponse(asked) as never,
  }),
]
