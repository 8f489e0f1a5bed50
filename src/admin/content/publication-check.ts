// What prevents the publication of a document, locale by locale: the errors that publishing would have, and links that would wait.
import type { Body } from '../../content/documents/input/types.js'
import type { PublicationError } from '../../content/documents/publication-checks.js'
import { notFound, validationError } from '../../foundation/errors/errors.js'
import type { ContentType } from '../../model/schema/types.js'
import { type ContentAccess, findVersions, inLocale, localesOf } from './content-access.js'
import { viewerOf } from './document-view.js'
import { type FoundLink, hasMoreThan, linksOf, targetsOf } from './found-links.js'
import { localeStates } from './locale-states.js'
import { wholePopulate } from './shown-attributes.js'

/** What the publication of one locale would come to. */
export interface LocaleCheck {
  readonly locale: string | null
  /** What would refuse it, as in `details.errors` of a publication. */
  readonly errors: readonly PublicationError[]
  /** Links to documents that are not published: they take effect once these are. */
  readonly waiting: readonly FoundLink[]
  /** There are more links than were looked at. */
  readonly more: boolean
}

/**
 * Checks the drafts of a document in the locales that a request names: one, several, or all (`*`).
 * @throws ApiError 404, 400, 403
 */
export async function checkDocument(
  access: ContentAccess,
  type: ContentType,
  documentId: string,
  given: string | undefined,
): Promise<readonly LocaleCheck[]> {
  const named = await localesOf(access, type, given)
  const there = (await localeStates(access, type, documentId)).map(({ locale }) => locale)
  if (there.length === 0) throw notFound()
  if (!type.draftAndPublish) throw validationError(`${type.uid} has no drafts`)
  const locales = named.includes('*') ? there : named
  if (locales.some((locale) => !there.includes(locale))) throw notFound()
  const errors = await access.checks({ grants: access.grants, type, documentId, locales })
  const checks: LocaleCheck[] = []
  for (const [index, locale] of locales.entries())
    checks.push({ locale, errors: errors[index]!, ...(await waitingIn(access, type, documentId, locale)) })
  return checks
}

async function waitingIn(
  access: ContentAccess,
  type: ContentType,
  documentId: string,
  locale: string | null,
): Promise<Pick<LocaleCheck, 'waiting' | 'more'>> {
  const { checkedLinksOfRelation: mostOfRelation, checkedLinks: mostLinks } = access.limits
  const parameters = { ...inLocale(locale), status: 'draft', populate: wholePopulate(viewerOf(access), type) }
  const linkPage = { start: 0, limit: mostOfRelation + 1, others: mostLinks + 1 }
  const draft = (await findVersions(access, { type, mode: 'first', documentId, parameters, linkPage })) as Body | null
  if (draft === null) return { waiting: [], more: false }
  const links = linksOf(access.documents.context.model, type, draft, ({ draftAndPublish }) => draftAndPublish)
  const isLong = [...type.attributes.values()].some(({ kind, name }) => {
    const value = draft[name]
    return kind === 'relation' && Array.isArray(value) && value.length > mostOfRelation
  })
  const looked = links.slice(0, mostLinks)
  const isPublished = await targetsOf(access, looked, 'published')
  return {
    waiting: looked.filter((link) => !isPublished(link.type, link.documentId, link.locale)),
    more: isLong || links.length > mostLinks || hasMoreThan(access.documents.context.model, type, draft, mostLinks),
  }
}
