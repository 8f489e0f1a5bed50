// Links of documents: candidates for a relation, links in their order, and who links to a document.
import * as z from 'zod'
import { listChoices, listLinks, listUses } from '../../../admin/content/document-links.js'
import { byDocument, contentOf, documentNamed, localeQuery, typeInput, versionAnswer } from '../content.js'
import { cursorInput } from '../list-query.js'
import { answer, type Resource, resource } from '../resource.js'
import { pageInput } from '../values.js'

const text = z.string().max(10_000).optional()
const pages = { ...localeQuery.shape, limit: pageInput.limit, after: cursorInput, before: cursorInput }
const path = z.string().min(1).max(1_000)
const page = z.strictObject({
  data: z.array(z.looseObject({})),
  meta: z.strictObject({ limit: z.int(), next: z.string().nullable(), previous: z.string().nullable() }),
})

/** The resources of links. */
export const linkResources: readonly Resource[] = [
  resource({
    ...{ method: 'GET', path: '/choices/:type/:path', summary: 'List candidates for a relation, by text', who: 'byRoles' },
    ...{ params: z.strictObject({ type: typeInput, path }), query: z.strictObject({ ...pages, q: text }), answer: page },
    handle: async (asked) => {
      const { data, meta } = await listChoices(await contentOf(asked), asked.params.type, asked.params.path, asked.query)
      return answer({ data: [...data], meta })
    },
  }),
  resource({
    ...{ method: 'GET', path: '/content/:type/:document/links/:path', summary: 'List the links of an attribute, in their order' },
    ...{ who: 'byRoles', params: byDocument.extend({ path }), query: z.strictObject(pages), answer: page },
    handle: async (asked) => {
      const access = await contentOf(asked)
      const { path: attribute, ...params } = asked.params
      const name = await documentNamed(access, params, { locale: asked.query.locale })
      const { data, meta } = await listLinks(access, name, attribute, asked.query)
      return answer({ data: [...data], meta })
    },
  }),
  resource({
    ...{
      method: 'GET',
      path: '/content/:type/:document/uses',
      summary: 'List the documents that link to a document',
      who: 'byRoles',
    },
    ...{ params: byDocument, query: localeQuery },
    answer: z.strictObject({
      data: z.array(z.strictObject({ type: z.string(), path: z.string(), documents: z.array(versionAnswer), more: z.boolean() })),
    }),
    handle: async (asked) => {
      const access = await contentOf(asked)
      const uses = await listUses(access, await documentNamed(access, asked.params, asked.query))
      return answer({ data: uses.map((use) => ({ ...use, documents: [...use.documents] as z.input<typeof versionAnswer>[] })) })
    },
  }),
]
