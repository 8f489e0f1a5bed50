// One version of a document: its row, and the parameters that read just it.
import type { ContentType } from '../../model/schema/types.js'
import type { Parameters } from './parameters.js'

/** A row of a document, as far as reading it needs to know. */
export interface DocumentVersion {
  readonly id: number
  readonly locale: string | null
  readonly published_at: number | null
}

/** The parameters that read just this row. */
export const versionOf = ({ locale, published_at }: DocumentVersion): Parameters => ({
  ...(locale === null ? {} : { locale }),
  status: published_at === null ? 'draft' : 'published',
})

/**
 * The parameters that read just this row, with all its links: a type without Draft & Publish links to drafts, one without locales to every
 * locale.
 */
export const wholeVersionOf = ({ draftAndPublish, localized }: ContentType, version: DocumentVersion): Parameters => ({
  ...versionOf(version),
  ...(draftAndPublish ? {} : { status: 'draft' }),
  ...(localized ? {} : everyLocale),
})

/** The parameter by which a type without locales shows links to targets in any locale. */
export const everyLocale: Parameters = { locale: {} }
