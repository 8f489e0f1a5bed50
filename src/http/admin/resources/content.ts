// /content: documents, their links, checks, and what helps to write them.

import * as z from 'zod'
import { generateUid } from '../../../admin/content/available-uid.js'
import { parseLocale, readableType } from '../../../admin/content/content-access.js'
import { cloneDocument, fillDocument } from '../../../admin/content/document-copy.js'
import { listChoices, listLinks, listUses } from '../../../admin/content/document-links.js'
import { countDocuments, listDocuments } from '../../../admin/content/document-list.js'
import { actOnDocument, changeDocument, createDocument } from '../../../admin/content/document-writes.js'
import { findPreview } from '../../../admin/content/preview.js'
import { checkDocument } from '../../../admin/content/publication-check.js'
import { search } from '../../../admin/content/search.js'
import { pageInput } from '../../../admin/values.js'
import type { InputMistake } from '../../../foundation/errors/issues.js'
import {
  admitTo,
  attributesInput,
  byDocument,
  changedDocumentSchema,
  contentAccess,
  cursorInput,
  cursorMeta,
  type DocumentRequest,
  documentSchema,
  documentState,
  documentStateOrNew,
  linkSchema,
  listQuery,
  listTotals,
  localeQuery,
  localesQuery,
  openDocument,
  preferredResponse,
  respondDocument,
  respondNamed,
  respondWritten,
  rowLocales,
  rowSchema,
  thumbnailSchema,
  totalQuery,
  typeInput,
  usesSchema,
  writtenDocumentSchema,
} from '../content.js'
import { inputErrorSchema } from '../input.js'

import { type Resource, type ResourceRequest, resource, respond, respondNothing } from '../resource.js'
import { cacheable } from '../revisions.js'

const byType = z.strictObject({ type: typeInput })

/** A formerly created document. */
const openNew = (context: ResourceRequest<z.output<typeof byType>, z.output<typeof localeQuery>>, document: string) =>
  openDocument({ ...context, params: { type: context.params.type, document } })

const lists: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/content/:type',
    summary: 'List documents, by cursors',
    who: 'byRoles',
    params: byType,
    query: listQuery,
    isNested: true,
    response: z.strictObject({ data: z.array(rowSchema), meta: cursorMeta }),
    handle: async (context) => {
      return respond(await listDocuments(await contentAccess(context), context.params.type, context.query))
    },
  }),
  resource({
    method: 'GET',
    path: '/content/:type/total',
    summary: 'Count the documents of a list, up to 10,000',
    who: 'byRoles',
    params: byType,
    query: totalQuery,
    isNested: true,
    response: z.strictObject({ data: listTotals }),
    handle: async (context) => respond({ data: await countDocuments(await contentAccess(context), context.params.type, context.query) }),
  }),
  resource({
    method: 'POST',
    path: '/content/:type',
    summary: 'Create a document',
    who: 'byRoles',
    status: 201,
    // A single type may already have its document.
    isTagged: true,
    refusals: [412],
    headers: { prefers: ['return=minimal'] },
    params: byType,
    query: localeQuery,
    body: z.strictObject({ data: attributesInput }),
    response: writtenDocumentSchema,
    admit: admitTo('create'),
    handle: async (context) => {
      const access = await contentAccess(context)
      const type = readableType(access, context.params.type)
      const locale = await parseLocale(access, type, context.query.locale)
      const { report, present } = preferredResponse(context.preferred, locale)
      return present(access, { type, documentId: await createDocument(access, type, locale, context.body.data, { report }), locale })
    },
    respondAgain: async (context, done) => {
      const { access, name } = await openNew(context, done.ids[0]!)
      return preferredResponse(context.preferred, name.locale, done).present(access, name)
    },
  }),
]

const maxOperations = 1_000

const entryInput = z.string().min(1).max(300).describe('An entry: `#12`, in a dynamic zone `block.text#12`, or its position')
const keyInput = z
  .string()
  .regex(/^(?!\d+$)[\w-]{1,64}$/, '1 to 64 letters, digits, - and _, not only digits')
  .describe('A name for the new entry, in this request, in errors and in `ids` of the response')
const listPosition = {
  before: entryInput.optional().describe('The next entry, or the key of a new one'),
  after: entryInput.optional().describe('The previous entry, or the key of a new one'),
  at: z.enum(['start', 'end']).optional(),
}
const listOperation = z.union(
  [
    z.strictObject({ insert: attributesInput, key: keyInput, ...listPosition }),
    z.strictObject({ move: entryInput, ...listPosition }),
    z.strictObject({ remove: entryInput }),
  ],
  'An operation has insert and key, move, or remove',
)

/** Changes of a draft. */
const changesInput = z.strictObject({
  changes: attributesInput
    .default({})
    .describe('Values by path: `title`, `seo/metaTitle`, `links/#12/metaTitle`, `sections/block.text#3/heading`'),
  lists: z
    .record(z.string().max(500), z.array(listOperation).max(maxOperations))
    .default({})
    .describe('Operations in their order, by the path of a repeatable component or dynamic zone'),
})

const documents: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/content/:type/:document',
    summary: 'Read a document',
    who: 'byRoles',
    params: byDocument,
    query: localeQuery,
    response: documentSchema,
    handle: respondNamed,
  }),
  resource({
    method: 'PATCH',
    path: '/content/:type/:document',
    summary: 'Change a draft at some paths',
    who: 'byRoles',
    headers: { ...documentStateOrNew, prefers: ['return=minimal', 'handling=lenient'] },
    params: byDocument,
    query: localeQuery,
    body: changesInput,
    response: changedDocumentSchema,
    handle: async (context) => {
      const { body, expected, preferred } = context
      const { access, name } = await openDocument(context)
      const { report, present } = preferredResponse(preferred, name.locale)
      const isLenient = preferred.has('handling=lenient')
      let refused: readonly InputMistake[] = []
      const change = async () => {
        refused = await changeDocument(access, name, body, { expected, report, isLenient })
      }
      return respondWritten(access, name, change, () => present(access, name, isLenient ? refused : undefined))
    },
  }),
  resource({
    method: 'DELETE',
    path: '/content/:type/:document',
    summary: 'Delete a document in a locale, or in all',
    who: 'byRoles',
    headers: documentState,
    params: byDocument,
    query: localesQuery,
    response: null,
    handle: async (context) => {
      const { access, shown } = await actedOn(context)
      const remove = () => actOnDocument(access, 'delete', { ...shown, locale: context.query.locale }, context.expected)
      return respondWritten(access, shown, remove, async () => respondNothing())
    },
  }),
  resource({
    method: 'POST',
    path: '/content/:type/:document/clone',
    summary: 'Copy a draft to a new document',
    who: 'byRoles',
    status: 201,
    isTagged: true,
    params: byDocument,
    query: localeQuery,
    body: z.strictObject({ data: attributesInput.default({}) }),
    response: documentSchema,
    admit: admitTo('create'),
    handle: async (context) => {
      const { access, name } = await openDocument(context)
      return respondDocument(access, { ...name, documentId: await cloneDocument(access, name, context.body.data) })
    },
    respondAgain: async (context, { ids }) => {
      const { access, name } = await openNew(context, ids[0]!)
      return respondDocument(access, name)
    },
  }),
]

/** The locale of the document in the response. */
function firstLocale(given: string | undefined, isLocalized: boolean, defaultLocale: string): string | null {
  if (!isLocalized) return null
  const [first = ''] = (given ?? '').split(',')
  return first === '' || first === '*' ? defaultLocale : first
}

const publications = [
  { path: 'publish', action: 'publish', summary: 'Publish a draft in one or several locales' },
  { path: 'unpublish', action: 'unpublish', summary: 'Take a publication back in one or several locales' },
  { path: 'discard', action: 'discardDraft', summary: 'Reset drafts to their publications, in one or several locales' },
] as const

/** The document of an action in several locales, and the locale of the response. */
async function actedOn(context: DocumentRequest) {
  const access = await contentAccess(context)
  const type = readableType(access, context.params.type)
  const locale = firstLocale(context.query.locale, type.localized, access.defaultLocale)
  return { access, shown: { type, documentId: context.params.document, locale } }
}

const acts = publications.map(({ path, action, summary }) =>
  resource({
    method: 'POST',
    path: `/content/:type/:document/${path}`,
    summary,
    who: 'byRoles',
    headers: { ...documentState, prefers: ['return=minimal'] },
    params: byDocument,
    query: localesQuery,
    response: writtenDocumentSchema,
    admit: admitTo(path),
    handle: async (context) => {
      const { expected, preferred, query } = context
      const { access, shown } = await actedOn(context)
      const { report, present } = preferredResponse(preferred, shown.locale)
      const act = () => actOnDocument(access, action, { ...shown, locale: query.locale }, expected, report)
      return respondWritten(access, shown, act, () => present(access, shown))
    },
    respondAgain: async (context, done) => {
      const { access, shown } = await actedOn(context)
      return preferredResponse(context.preferred, shown.locale, done).present(access, shown)
    },
  }),
)

/** The resources of content. */
export const contentResources: readonly Resource[] = [...lists, ...documents, ...acts]

const linkText = z.string().max(10_000).optional()
const pages = { ...localeQuery.shape, limit: pageInput.limit, after: cursorInput, before: cursorInput }
const linkPathInput = z.string().min(1).max(1_000)
const page = z.strictObject({ data: z.array(linkSchema), meta: cursorMeta })

/** The resources of links. */
export const linkResources: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/choices/:type/:path',
    summary: 'List candidates for a relation, by text',
    who: 'byRoles',
    params: z.strictObject({ type: typeInput, path: linkPathInput }),
    query: z.strictObject({ ...pages, q: linkText }),
    response: page,
    handle: async (context) => {
      const { type, path: attribute } = context.params
      return respond(await listChoices(await contentAccess(context), type, attribute, context.query))
    },
  }),
  resource({
    method: 'GET',
    path: '/content/:type/:document/links/:path',
    summary: 'List the links of an attribute, in their order',
    who: 'byRoles',
    params: byDocument.extend({ path: linkPathInput }),
    query: z.strictObject(pages),
    response: page,
    handle: async (context) => {
      const { access, name } = await openDocument(context)
      return respond(await listLinks(access, name, context.params.path, context.query))
    },
  }),
  resource({
    method: 'GET',
    path: '/content/:type/:document/uses',
    summary: 'List the documents that link to a document',
    who: 'byRoles',
    params: byDocument,
    query: localeQuery,
    response: z.strictObject({ data: usesSchema }),
    handle: async (context) => {
      const { access, name } = await openDocument(context)
      return respond({ data: await listUses(access, name) })
    },
  }),
]

const text = z.string()
const locale = text.nullable()
const path = z.array(text)
const name = z.string().min(1).max(255)

const check = z.strictObject({
  locale,
  isMissing: z.boolean(),
  errors: z.array(inputErrorSchema),
  hints: z.array(inputErrorSchema),
  waiting: z.array(z.strictObject({ path, type: text, documentId: text, locale })),
  more: z.boolean(),
})

const previewSchema = z.strictObject({
  url: text.nullable().describe('Absolute, or a path of this service; null: the document has none'),
  missing: text.nullable().describe('The attribute whose value the address lacks'),
  origins: z.array(text).readonly().describe('The origins of pages that may send messages to the editor'),
})

const found = z.strictObject({
  types: z.array(z.strictObject({ uid: text, displayName: text })),
  documents: z.array(linkSchema.extend({ name: text, displayName: text, locales: rowLocales })),
  files: z.array(
    z.strictObject({
      id: z.int(),
      documentId: text,
      name: text,
      alternativeText: text.nullable(),
      mime: text.nullable(),
      url: text.nullable().describe('Of the file itself'),
      thumbnail: thumbnailSchema.nullable(),
    }),
  ),
  isComplete: z.boolean(),
})

const maxFound = 50
const limitError = { error: `limit must be a number from 1 to ${maxFound}` }
/** Results of each kind. */
const searchLimit = z
  .string()
  .regex(/^[1-9]\d?$/, limitError)
  .meta({ type: 'integer', minimum: 1, maximum: maxFound, default: 30, pattern: undefined })
  .transform(Number)
  .pipe(z.number().max(maxFound, limitError))
  .default(30)

/** The resources that help to write. */
export const editingResources: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/content/:type/:document/check',
    summary: 'List what would refuse a publication, and links that would wait',
    who: 'byRoles',
    params: byDocument,
    query: localesQuery,
    response: z.strictObject({ data: z.array(check) }),
    handle: async (context) => {
      const access = await contentAccess(context)
      const checks = await checkDocument(access, readableType(access, context.params.type), context.params.document, context.query.locale)
      const data = checks.map(({ waiting, ...rest }) => ({ ...rest, waiting: waiting.map((link) => ({ ...link, type: link.type.uid })) }))
      return respond({ data })
    },
  }),
  resource({
    method: 'GET',
    path: '/content/:type/:document/preview',
    summary: 'Find the address where a version of a document is previewed',
    who: 'byRoles',
    params: byDocument,
    query: localeQuery.extend({ status: z.enum(['draft', 'published']).default('draft') }),
    response: z.strictObject({ data: previewSchema }),
    handle: async (context) => {
      const { access, name } = await openDocument(context)
      return respond({ data: await findPreview(access, context.parts.config, { ...name, status: context.query.status }) })
    },
  }),
  resource({
    method: 'POST',
    path: '/content/:type/:document/fill',
    summary: 'Take attributes of another locale into a draft',
    who: 'byRoles',
    headers: documentStateOrNew,
    params: byDocument,
    query: localeQuery,
    response: documentSchema,
    body: z.strictObject({ from: z.string().min(1).max(255), fields: z.array(name).min(1).max(1_000) }),
    admit: admitTo('update'),
    handle: async (context) => {
      const { access, name } = await openDocument(context)
      return respondWritten(access, name, () => fillDocument(access, name, context.body, context.expected))
    },
    respondAgain: respondNamed,
  }),
  resource({
    method: 'POST',
    path: '/uid/:type/:attribute',
    summary: 'Make a free uid of a text',
    who: 'byRoles',
    params: z.strictObject({ type: typeInput, attribute: name }),
    body: z.strictObject({ text: z.string().max(10_000), document: z.string().min(1).max(255).optional() }),
    response: z.strictObject({ data: z.strictObject({ uid: text }) }),
    handle: async (context) => {
      const { params, body, administration } = context
      const wanted = { text: body.text, documentId: body.document ?? null }
      return respond({
        data: { uid: await generateUid(await contentAccess(context), administration.database, params.type, params.attribute, wanted) },
      })
    },
  }),
  resource({
    method: 'GET',
    path: '/find',
    summary: 'Find types, documents and files by a text',
    who: 'administrator',
    query: z.strictObject({ q: z.string().trim().min(1).max(200), limit: searchLimit }),
    response: z.strictObject({ data: found }),
    handle: async (context) => cacheable(await search(await contentAccess(context), context.query.q, context.query.limit)),
  }),
]
