// One version of a document: its row, and the parameters that read just it.
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
