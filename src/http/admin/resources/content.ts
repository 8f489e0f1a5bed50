// /content: lists of documents, their totals, and documents with both versions and all locales.
import * as z from 'zod'
import { localeOf, readableType } from '../../../admin/content/content-access.js'
import { countDocuments, listDocuments } from '../../../admin/content/document-list.js'
import { actOnDocument, changeDocument, cloneDocument, createDocument } from '../../../admin/content/document-writes.js'
import {
  admitTo,
  attributesInput,
  byDocument,
  contentOf,
  documentAnswer,
  documentNamed,
  documentResponse,
  localeQuery,
  localesQuery,
  namedResponse,
  ofDocument,
  ofDocumentOrNew,
  orChanged,
  typeInput,
  versionAnswer,
} from '../content.js'
import { listQuery } from '../list-query.js'
import { type Answered, answer, nothing, type Resource, type ResourceRequest, resource } from '../resource.js'

const byType = z.strictObject({ type: typeInput })

/** A document that was made before as a response. */
const newDocument = (
  asked: ResourceRequest<z.output<typeof byType>, z.output<typeof localeQuery>>,
  document: string,
): Promise<Answered<z.input<typeof documentAnswer>>> =>
  namedResponse({ ...asked, params: { type: asked.params.type, document } }) as Promise<Answered<never>>

const lists: readonly Resource[] = [
  resource({
    ...{ method: 'GET', path: '/content/:type', summary: 'List documents, by cursors', who: 'byRoles' },
    ...{ params: byType, query: listQuery, isNested: true },
    answer: z.strictObject({
      data: z.array(versionAnswer),
      meta: z.strictObject({ limit: z.int(), next: z.string().nullable(), previous: z.string().nullable() }),
    }),
    handle: async (asked) => {
      const { data, meta } = await listDocuments(await contentOf(asked), asked.params.type, asked.query)
      return answer({ data: data as z.input<typeof versionAnswer>[], meta })
    },
  }),
  resource({
    ...{ method: 'GET', path: '/content/:type/total', summary: 'Count the documents of a list, up to 10,000', who: 'byRoles' },
    ...{ params: byType, query: listQuery, isNested: true },
    answer: z.strictObject({ data: z.strictObject({ total: z.int(), exact: z.boolean() }) }),
    handle: async (asked) => answer({ data: await countDocuments(await contentOf(asked), asked.params.type, asked.query) }),
  }),
  resource({
    ...{ method: 'POST', path: '/content/:type', summary: 'Create a document', who: 'byRoles', status: 201 },
    // A single type may have its document.
    ...{ isTagged: true, refusals: [412] },
    params: byType,
    query: localeQuery,
    body: z.strictObject({ data: attributesInput }),
    answer: documentAnswer,
    admit: admitTo('create'),
    handle: async (asked) => {
      const access = await contentOf(asked)
      const type = readableType(access, asked.params.type)
      const locale = await localeOf(access, type, asked.query.locale)
      const documentId = await createDocument(access, type, locale, asked.body.data)
      return (await documentResponse(access, { type, documentId, locale })) as never
    },
    again: (asked, { ids }) => newDocument(asked, ids[0]!),
  }),
]

const documents: readonly Resource[] = [
  resource({
    ...{ method: 'GET', path: '/content/:type/:document', summary: 'Read a document', who: 'byRoles' },
    ...{ params: byDocument, query: localeQuery, answer: documentAnswer },
    handle: async (asked) => {
      const access = await contentOf(asked)
      return (await documentResponse(access, await documentNamed(access, asked.params, asked.query))) as never
    },
  }),
  resource({
    ...{ method: 'PATCH', path: '/content/:type/:document', summary: 'Change a draft at some paths', who: 'byRoles' },
    ...{ headers: ofDocumentOrNew, params: byDocument, query: localeQuery, body: z.strictObject({ changes: attributesInput }) },
    answer: documentAnswer,
    handle: async (asked) => {
      const access = await contentOf(asked)
      const name = await documentNamed(access, asked.params, asked.query)
      return orChanged(access, name, async () => {
        await changeDocument(access, name, asked.body.changes, asked.expected)
        return documentResponse(access, name) as never
      })
    },
  }),
  resource({
    ...{ method: 'DELETE', path: '/content/:type/:document', summary: 'Delete a document in a locale, or in all', who: 'byRoles' },
    ...{ headers: ofDocument, params: byDocument, query: localesQuery, answer: null },
    handle: async (asked) => {
      const { access, shown } = await actedOn(asked)
      return orChanged(access, shown, async () => {
        await actOnDocument(access, 'delete', { ...shown, locale: asked.query.locale }, asked.expected)
        return nothing()
      })
    },
  }),
  resource({
    ...{
      method: 'POST',
      path: '/content/:type/:document/clone',
      summary: 'Copy a draft to a new document',
      who: 'byRoles',
      status: 201,
    },
    ...{
      isTagged: true,
      params: byDocument,
      query: localeQuery,
      body: z.strictObject({ data: attributesInput.default({}) }),
      answer: documentAnswer,
    },
    admit: admitTo('create'),
    handle: async (asked) => {
      const access = await contentOf(asked)
      const name = await documentNamed(access, asked.params, asked.query)
      const documentId = await cloneDocument(access, name, asked.body.data)
      return (await documentResponse(access, { ...name, documentId })) as never
    },
    again: (asked, { ids }) => newDocument(asked, ids[0]!),
  }),
]

/** The locale of which a response shows the document. */
function firstLocale(given: string | undefined, isLocalized: boolean, defaultLocale: string): string | null {
  if (!isLocalized) return null
  const [first = ''] = (given ?? '').split(',')
  return first === '' || first === '*' ? defaultLocale : first
}

const publications = [
  { path: 'publish', action: 'publish', summary: 'Publish a draft in one or several locales' },
  { path: 'unpublish', action: 'unpublish', summary: 'Take a publication back in one or several locales' },
  { path: 'discard', action: 'discardDraft', summary: 'Give drafts what is published, in one or several locales' },
] as const

/** The document that an act in several locales is about, and the one of them in which a response shows it. */
async function actedOn(asked: ResourceRequest<z.output<typeof byDocument>, z.output<typeof localeQuery>>) {
  const access = await contentOf(asked)
  const type = readableType(access, asked.params.type)
  const locale = firstLocale(asked.query.locale, type.localized, access.defaultLocale)
  return { access, shown: { type, documentId: asked.params.document, locale } }
}

const acts = publications.map(({ path, action, summary }) =>
  resource({
    ...{ method: 'POST', path: `/content/:type/:document/${path}`, summary, who: 'byRoles' },
    ...{ headers: ofDocument, params: byDocument, query: localesQuery, answer: documentAnswer },
    admit: admitTo(path),
    handle: async (asked) => {
      const { access, shown } = await actedOn(asked)
      return orChanged(access, shown, async () => {
        await actOnDocument(access, action, { ...shown, locale: asked.query.locale }, asked.expected)
        return documentResponse(access, shown) as never
      })
    },
    again: async (asked) => {
      const { access, shown } = await actedOn(asked)
      return documentResponse(access, shown) as never
    },
  }),
)

/** The resources of content. */
export const contentResources: readonly Resource[] = [...lists, ...documents, ...acts]
