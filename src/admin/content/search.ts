// Search over the names of types, documents and files, bounded in types, rows and time.

import { fileType } from '../../model/schema/link.js'
import type { ContentType } from '../../model/schema/types.js'
import { attributeTypes } from '../../model/types/attribute-types.js'
import { type ContentAccess, findRows } from './content-access.js'
import { type RowLocale, readRowLocales } from './document-list.js'
import {
  type LinkShapes,
  type LinkView,
  linkLevel,
  readLinkShapes,
  type Thumbnail,
  thumbnailLevel,
  toLink,
  toThumbnail,
} from './link-view.js'

const maxTypes = 50
const maxDocumentsPerType = 5
/** Rows of a type among which the best are found: a document has one for each locale. */
const rowsPerType = 50
/** Time after which no further type is searched. */
const maxSearchMs = 1_500

/** A type, a document or a file that was found. */
interface SearchResult {
  readonly types: readonly { readonly uid: string; readonly displayName: string }[]
  readonly documents: readonly SearchedDocument[]
  readonly files: readonly SearchedFile[]
  /** All types were searched. */
  readonly isComplete: boolean
}

/** A document that was found: its draft in the locale with the best name. */
interface SearchedDocument extends LinkView {
  readonly name: string
  /** The display name of the type. */
  readonly displayName: string
  /** Only of types with locales. */
  readonly locales?: readonly RowLocale[]
}

interface SearchedFile {
  readonly id: number
  readonly documentId: string
  readonly name: string
  readonly alternativeText: string | null
  readonly mime: string | null
  readonly url: string | null
  readonly thumbnail: Thumbnail | null
}

/** Finds what the administrator may read by a text; at most `limit` of each kind, the best first. */
export async function search(access: ContentAccess, text: string, limit: number): Promise<SearchResult> {
  const { model } = access.documents.context
  const readable = [...model.types.values()].filter(({ uid, exposed }) => exposed && access.grants.may(`${uid}.find`))
  const rank = rankBy(text)
  const words = text.toLowerCase()
  const types = readable.filter(({ uid, displayName }) => `${displayName} ${uid}`.toLowerCase().includes(words))
  const until = performance.now() + maxSearchMs
  const files = access.grants.may(`${fileType}.find`) ? await searchFiles(access, model.types.get(fileType)!, text, limit) : []
  const searchable = readable.slice(0, maxTypes)
  const shapes = await readLinkShapes(access, model, searchable)
  const documents: SearchedDocument[] = []
  let searched = 0
  for (const type of searchable) {
    if (performance.now() > until) break
    documents.push(...(await searchDocuments(access, shapes, type, text)))
    searched += 1
  }
  return {
    types: sortBy(types, ({ displayName }) => rank(displayName))
      .slice(0, limit)
      .map(({ uid, displayName }) => ({ uid, displayName })),
    documents: sortBy(documents, ({ name }) => rank(name)).slice(0, limit),
    files,
    isComplete: searched === readable.length,
  }
}

/** The rank of a name: equal to the text, beginning with it, with a word that begins with it, others. */
const rankBy = (text: string): ((name: string | null) => number) => {
  const words = text.toLowerCase()
  return (name) => {
    const lower = (name ?? '').toLowerCase()
    if (lower === words) return 0
    if (lower.startsWith(words)) return 1
    return lower.includes(` ${words}`) ? 2 : 3
  }
}

const sortBy = <Value>(values: readonly Value[], rank: (value: Value) => number): readonly Value[] =>
  values.toSorted((one, other) => rank(one) - rank(other))

/** Numbers and dates name documents, but are not searched. */
const isText = ({ attributes }: ContentType, name: string): boolean => {
  const attribute = attributes.get(name)
  return attribute?.kind === 'scalar' && attributeTypes[attribute.type].search === 'text'
}

async function searchDocuments(
  access: ContentAccess,
  shapes: LinkShapes,
  type: ContentType,
  text: string,
): Promise<readonly SearchedDocument[]> {
  const shape = shapes(type.uid)
  if (shape.naming === null || !isText(type, shape.naming)) return []
  const rows = await findRows(access, type, {
    status: 'draft',
    filters: { [shape.naming]: { $containsi: text } },
    ...linkLevel(shape),
    limit: rowsPerType,
    ...(type.localized ? { locale: '*' } : {}),
  })
  const rank = rankBy(text)
  const isDefault = ({ locale }: LinkView) => locale === null || locale === access.defaultLocale
  const links = sortBy(
    rows.map((row) => toLink(shape, row)),
    (link) => 2 * rank(link.name) + (isDefault(link) ? 0 : 1),
  )
  const documents = [...new Map(links.toReversed().map((link) => [link.documentId, link])).values()].toReversed()
  const best = documents.slice(0, maxDocumentsPerType)
  const localesOf = type.localized ? await readRowLocales(access, type, best) : null
  return best.map((link) => ({
    ...link,
    name: link.name ?? '',
    displayName: type.displayName,
    ...(localesOf === null ? {} : { locales: localesOf(link.documentId) }),
  }))
}

/** Files by name, then by alternative text and caption. */
async function searchFiles(access: ContentAccess, type: ContentType, text: string, limit: number): Promise<readonly SearchedFile[]> {
  const contains = { $containsi: text }
  const read = (filters: unknown, most: number) =>
    findRows(access, type, { filters, fields: ['documentId', 'name', ...thumbnailLevel.fields], limit: most })
  const named = await read({ name: contains }, limit)
  const inTexts = { $or: [{ alternativeText: contains }, { caption: contains }], name: { $not: contains } }
  const others = named.length < limit ? await read(inTexts, limit - named.length) : []
  const rank = rankBy(text)
  return [...sortBy(named, ({ name }) => rank(String(name))), ...others].map((file) => ({
    id: file.id as number,
    documentId: String(file.documentId),
    name: String(file.name),
    alternativeText: typeof file.alternativeText === 'string' ? file.alternativeText : null,
    mime: typeof file.mime === 'string' ? file.mime : null,
    url: typeof file.url === 'string' ? file.url : null,
    thumbnail: toThumbnail(file),
  }))
}
