// Checks before a publication: errors for each locale, and links to unpublished documents.
import { inputError, notFound } from '../../foundation/errors/errors.js'
import type { ContentType } from '../../model/schema/types.js'
import { type InputErrorView, mayKnow, toErrorView } from '../error-paths.js'
import { type ContentAccess, findVersion, parseLocales } from './content-access.js'
import { localeStates, wholePopulate } from './document-view.js'
import { type DocumentLink, findLinks, findTargets, hasMoreThan } from './link-targets.js'

/** The result for one locale. */
interface LocaleCheck {
  readonly locale: string | null
  /** The document does not exist in this locale. */
  readonly isMissing: boolean
  /** Errors, as in `details.errors` of a publication. */
  readonly errors: readonly InputErrorView[]
  /** Empty required attributes that would not refuse the publication. */
  readonly hints: readonly InputErrorView[]
  /** Links to unpublished documents; they take effect once these are published. */
  readonly waiting: readonly DocumentLink[]
  /** True if links were left unchecked. */
  readonly more: boolean
}

/** Hints of one locale. */
const maxHints = 100

/** Checks the drafts of a document in one locale, several, or all (`*`). @throws ApiError 404, 400, 403 */
export async function checkDocument(
  access: ContentAccess,
  type: ContentType,
  documentId: string,
  given: string | undefined,
): Promise<readonly LocaleCheck[]> {
  const named = await parseLocales(access, type, given)
  const there = (await localeStates(access, type, documentId)).map(({ locale }) => locale)
  if (there.length === 0) throw notFound()
  if (!type.draftAndPublish) throw inputError(`${type.uid} has no drafts`, [], 'unsupported')
  const locales = named.includes('*') ? there : named
  const existing = locales.filter((locale) => there.includes(locale))
  if (existing.length === 0) throw notFound()
  const found = await access.checks({ grants: access.grants, type, documentId, locales: existing })
  const checks: LocaleCheck[] = []
  for (const locale of locales) {
    const index = existing.indexOf(locale)
    const { errors, hints } = found[index] ?? { errors: [], hints: [] }
    const shown = hints.filter(({ path }) => mayKnow(access, type, path)).slice(0, maxHints)
    const isMissing = index === -1
    const links = isMissing ? { waiting: [], more: false } : await findWaiting(access, type, documentId, locale)
    checks.push({ locale, isMissing, errors: errors.map(toErrorView), hints: shown.map(toErrorView), ...links })
  }
  return checks
}

async function findWaiting(
  access: ContentAccess,
  type: ContentType,
  documentId: string,
  locale: string | null,
): Promise<Pick<LocaleCheck, 'waiting' | 'more'>> {
  const mostLinks = Math.ceil(access.limits.copiedLinks / 10)
  const mostOfRelation = Math.ceil(mostLinks / 10)
  const linkPage = { start: 0, limit: mostOfRelation + 1, others: mostLinks + 1 }
  const draft = await findVersion(access, { type, documentId, locale }, { populate: wholePopulate(access, type) }, linkPage)
  if (draft === null) return { waiting: [], more: false }
  const links = findLinks(access.documents.context.model, type, draft, ({ draftAndPublish }) => draftAndPublish)
  const isLong = [...type.attributes.values()].some(({ kind, name }) => {
    const value = draft[name]
    return kind === 'relation' && Array.isArray(value) && value.length > mostOfRelation
  })
  const looked = links.slice(0, mostLinks)
  const isPublished = await findTargets(access, looked, 'published')
  return {
    waiting: looked.filter((link) => !isPublished(link.type, link.documentId, link.locale)),
    more: isLong || links.length > mostLinks || hasMoreThan(access.documents.context.model, type, draft, mostLinks),
  }
}
