// A document as its editor sees it: draft, published version, states of its locales, its revision, and what may be done to it.
import type { ContentRights, Grants } from '../../foundation/grants.js'
import type { ContentType } from '../../model/schema/types.js'
import { type ContentAccess, type DocumentName, findVersions, inLocale } from './content-access.js'
import { type DocumentState, type LocaleState, localeStates } from './locale-states.js'
import { wholePopulate } from './shown-attributes.js'
import { actsOn, type DocumentActs } from './what-i-may.js'

/** A version with its attributes, as far as the administrator may see them. */
export type VersionData = Readonly<Record<string, unknown>>

/** A document in one locale. */
export interface DocumentView {
  readonly documentId: string
  readonly locale: string | null
  /** Null: the document is not there in this locale, and can be made by changing it. */
  readonly revision: string | null
  readonly state: DocumentState | null
  /** The draft, or the only version of a type without Draft & Publish. */
  readonly draft: VersionData | null
  readonly published: VersionData | null
  /** The relations of the draft that have more links than are shown; the others are at `/links/:path`. */
  readonly more: readonly string[]
  readonly locales: readonly LocaleState[]
  readonly may: DocumentActs
}

/** Reads a document; null: it does not exist for the administrator. */
export async function viewDocument(access: ContentAccess, name: DocumentName): Promise<DocumentView | null> {
  const { type, documentId, locale } = name
  // First: content that is newer than its revision is told by the next write, older content would be overwritten unknowingly.
  const whole = await access.documents.whole(type, { documentId, locale, side: 'draft' })
  const locales = await localeStates(access, type, documentId)
  if (locales.length === 0) return null
  const here = locales.find((one) => one.locale === locale) ?? null
  const version = async (status: 'draft' | 'published'): Promise<VersionData | null> => {
    const parameters = { ...inLocale(locale), status, populate: wholePopulate(viewerOf(access), type) }
    return (await findVersions(access, { type, mode: 'first', documentId, parameters, linkPage })) as VersionData | null
  }
  const draft = here === null ? null : await version('draft')
  const published = here === null || here.publishedAt === null || !type.draftAndPublish ? null : await version('published')
  return {
    documentId,
    locale,
    revision: draft === null ? null : (whole?.revision ?? null),
    state: here?.state ?? null,
    draft: firstLinks(type, draft),
    published: firstLinks(type, published),
    more: draft === null ? [] : relationsOf(type).filter((each) => isLong(draft[each])),
    locales,
    may: await actsOn(access, name, here !== null),
  }
}

/** Links of each relation that are shown. */
const mostLinks = 100
const linkPage = { start: 0, limit: mostLinks + 1 }

const isLong = (value: unknown): value is readonly unknown[] => Array.isArray(value) && value.length > mostLinks

const relationsOf = ({ attributes }: ContentType): readonly string[] =>
  [...attributes.values()].filter(({ kind }) => kind === 'relation' || kind === 'morphFrom').map(({ name }) => name)

/** A version with the first links of each relation. */
function firstLinks(type: ContentType, version: VersionData | null): VersionData | null {
  const long = version === null ? [] : relationsOf(type).filter((name) => isLong(version[name]))
  if (version === null || long.length === 0) return version
  return { ...version, ...Object.fromEntries(long.map((name) => [name, (version[name] as readonly unknown[]).slice(0, mostLinks)])) }
}

/** Who looks at documents. */
export const viewerOf = ({ documents, grants }: Pick<ContentAccess, 'documents' | 'grants'>) => ({
  model: documents.context.model,
  grants: grants as Grants & { readonly content: ContentRights },
})
