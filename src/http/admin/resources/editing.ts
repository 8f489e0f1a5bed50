// What helps to write: checks before a publication, filling from another locale, free uids, and what a text finds.
import * as z from 'zod'
import { readableType } from '../../../admin/content/content-access.js'
import { fillDocument } from '../../../admin/content/document-fill.js'
import { findByText } from '../../../admin/content/found-by-text.js'
import { uidFor } from '../../../admin/content/free-uid.js'
import { checkDocument } from '../../../admin/content/publication-check.js'
import {
  admitTo,
  byDocument,
  contentOf,
  documentAnswer,
  documentNamed,
  documentResponse,
  localeQuery,
  localesQuery,
  namedResponse,
  ofDocumentOrNew,
  orChanged,
  typeInput,
} from '../content.js'
import { answer, type Resource, resource } from '../resource.js'

const text = z.string()
const locale = text.nullable()
const path = z.array(text)
const name = z.string().min(1).max(255)

const check = z.strictObject({
  locale,
  errors: z.array(z.strictObject({ path, message: text, name: text })),
  waiting: z.array(z.strictObject({ path, type: text, documentId: text, locale })),
  more: z.boolean(),
})

const found = z.strictObject({
  types: z.array(z.strictObject({ uid: text, displayName: text })),
  documents: z.array(z.strictObject({ type: text, documentId: text, locale, name: text })),
  files: z.array(z.looseObject({ id: z.int() })),
  isComplete: z.boolean(),
})

/** The resources that help to write. */
export const editingResources: readonly Resource[] = [
  resource({
    ...{
      method: 'GET',
      path: '/content/:type/:document/check',
      summary: 'List what would refuse a publication, and links that would wait',
    },
    ...{ who: 'byRoles', params: byDocument, query: localesQuery, answer: z.strictObject({ data: z.array(check) }) },
    handle: async (asked) => {
      const access = await contentOf(asked)
      const checks = await checkDocument(access, readableType(access, asked.params.type), asked.params.document, asked.query.locale)
      const data = checks.map(({ errors, waiting, ...rest }) => ({
        ...rest,
        errors: errors.map((error) => ({ ...error, path: [...error.path] })),
        waiting: waiting.map((link) => ({ ...link, path: [...link.path], type: link.type.uid })),
      }))
      return answer({ data })
    },
  }),
  resource({
    ...{ method: 'POST', path: '/content/:type/:document/fill', summary: 'Take attributes of another locale into a draft' },
    ...{ who: 'byRoles', headers: ofDocumentOrNew, params: byDocument, query: localeQuery, answer: documentAnswer },
    body: z.strictObject({ from: z.string().min(1).max(255), fields: z.array(name).min(1).max(1_000) }),
    admit: admitTo('update'),
    handle: async (asked) => {
      const access = await contentOf(asked)
      const document = await documentNamed(access, asked.params, asked.query)
      return orChanged(access, document, async () => {
        await fillDocument(access, document, asked.body, asked.expected)
        return documentResponse(access, document) as never
      })
    },
    again: (asked) => namedResponse(asked) as never,
  }),
  resource({
    ...{ method: 'POST', path: '/uid/:type/:attribute', summary: 'Make a free uid of a text', who: 'byRoles' },
    params: z.strictObject({ type: typeInput, attribute: name }),
    body: z.strictObject({ text: z.string().max(10_000), document: z.string().min(1).max(255).optional() }),
    answer: z.strictObject({ data: z.strictObject({ uid: text }) }),
    handle: async (asked) => {
      const { params, body, administration } = asked
      const wanted = { text: body.text, documentId: body.document ?? null }
      return answer({ data: { uid: await uidFor(await contentOf(asked), administration.database, params.type, params.attribute, wanted) } })
    },
  }),
  resource({
    ...{ method: 'GET', path: '/find', summary: 'Find types, documents and files by a text', who: 'administrator' },
    ...{ query: z.strictObject({ q: z.string().trim().min(1).max(200) }), answer: z.strictObject({ data: found }) },
    handle: async (asked) => answer({ data: (await findByText(await contentOf(asked), asked.query.q)) as z.input<typeof found> }),
  }),
]
