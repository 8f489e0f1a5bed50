// In which state the versions of documents are: drafts, changed since their publication, or published.
import type { ContentType } from '../../model/schema/types.js'
import type { Parameters } from '../../query/rest/parameters.js'
import { type ContentAccess, findVersions } from './content-access.js'

/** `changed`: published, and the draft has something else. */
export type DocumentState = 'draft' | 'changed' | 'published'

/** A locale of a document that the administrator may see. */
export interface LocaleState {
  /** Null on types without locales. */
  readonly locale: string | null
  readonly state: DocumentState
  readonly updatedAt: string | null
  readonly publishedAt: string | null
}

interface FoundVersion {
  readonly documentId: string
  readonly locale?: string | null
  readonly updatedAt: string | null
  readonly publishedAt: string | null
}

/** The versions of a document that are read at most: one for each locale. */
const mostLocales = 1_000

const fields = ['documentId', 'locale', 'updatedAt', 'publishedAt']

/** The state of every locale of a document. */
export async function localeStates(access: ContentAccess, type: ContentType, documentId: string): Promise<readonly LocaleState[]> {
  const read = async (more: Parameters) => {
    const parameters = { ...more, fields: fieldsOf(type), limit: mostLocales, ...(type.localized ? { locale: '*' } : {}) }
    return (await findVersions(access, { type, mode: 'many', documentId, parameters })) as readonly FoundVersion[]
  }
  if (!type.draftAndPublish) return (await read({})).map((version) => stateOf(version, version, false))
  const drafts = await read({ status: 'draft' })
  const published = await read({ status: 'published' })
  const modified = published.length === 0 ? [] : await read({ status: 'draft', publicationFilter: 'modified' })
  const locales = [...new Set([...drafts, ...published].map(({ locale = null }) => locale))]
  const of = (versions: readonly FoundVersion[], locale: string | null) =>
    versions.find((version) => (version.locale ?? null) === locale) ?? null
  return locales.map((locale) => stateOf(of(drafts, locale), of(published, locale), of(modified, locale) !== null))
}

const fieldsOf = (type: ContentType): readonly string[] => fields.filter((name) => type.localized || name !== 'locale')

function stateOf(draft: FoundVersion | null, published: FoundVersion | null, isModified: boolean): LocaleState {
  const { locale = null, updatedAt } = (draft ?? published)!
  const state = published === null ? 'draft' : isModified ? 'changed' : 'published'
  return { locale, state, updatedAt, publishedAt: published?.publishedAt ?? null }
}

/** The states of drafts of a list, in whichever locales they are, by their row ids. */
export async function rowStates(
  { documents, grants }: Pick<ContentAccess, 'documents' | 'grants'>,
  type: ContentType,
  ids: readonly number[],
): Promise<(id: number) => DocumentState> {
  const read = async (publicationFilter: string) => {
    const parameters = {
      ...{ status: 'draft', publicationFilter, fields: ['documentId'], filters: { id: { $in: ids } }, limit: ids.length },
      ...(type.localized ? { locale: '*' } : {}),
    }
    const found = await documents.findData(grants, {
      ...{ type, parameters, mode: 'many', action: `${type.uid}.find`, envelope: 'bare', paged: false },
    })
    return new Set((found as readonly { readonly id: number }[]).map(({ id }) => id))
  }
  const published = ids.length === 0 ? new Set<number>() : await read('has-published-version')
  const modified = published.size === 0 ? published : await read('modified')
  return (id) => (published.has(id) ? (modified.has(id) ? 'changed' : 'published') : 'draft')
}
