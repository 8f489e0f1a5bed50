// The query of a list of documents, whose parameters are those of the content API, with cursors in place of its pages.
import * as z from 'zod'
import { knownPublicationFilters } from '../../admin/content/document-list.js'
import { pageInput } from './values.js'

const text = { type: 'string' } as const
const texts = { type: 'array', items: text } as const

/** What the content API checks by the model: here it is described only. */
const nested = (described: Readonly<Record<string, unknown>>, description: string) =>
  z
    .unknown()
    .meta({ ...described, description })
    .optional()

/** A cursor, of which those of long values are long. */
export const cursorInput = z.string().max(10_000).optional()

/** The query of a list of documents. */
export const listQuery = z.strictObject({
  filters: nested({ type: 'object', additionalProperties: true }, 'Conditions: `filters[title][$containsi]=tea`'),
  sort: nested({ anyOf: [text, texts] }, 'Keys such as `title:asc`, or `author.name:desc` through a relation'),
  fields: nested({ anyOf: [text, texts] }, 'The attributes to return; `id` and `documentId` are always included'),
  populate: nested(
    { anyOf: [text, texts, { type: 'object', additionalProperties: true }] },
    'The relations, media, components and dynamic zones to return',
  ),
  q: z.string().max(10_000).optional().describe('A text to search in all text attributes'),
  locale: z.string().max(1_000).optional().describe('The code of a locale, or `*` for all; the default one unless it is given'),
  status: z.enum(['draft', 'published']).optional().describe('Which versions; drafts unless it is given'),
  publicationFilter: z
    .enum(knownPublicationFilters)
    .optional()
    .describe('A condition on the draft and the published version of a document'),
  hasPublishedVersion: z.enum(['true', 'false']).optional().describe('Whether the document is published in any locale'),
  ...{ limit: pageInput.limit, after: cursorInput, before: cursorInput },
})
