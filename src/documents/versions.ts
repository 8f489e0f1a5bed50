// One version of a document: its row, the parameters that read just it, and the text of such a read.
import type { ReadAnswer } from '../database/database.js'
import type { Parameters } from '../query/parameters.js'

/** A row of a document, as far as reading it needs to know. */
export interface Row {
  readonly id: number
  readonly locale: string | null
  readonly published_at: number | null
}

/** The parameters that read just this row. */
export const versionOf = ({ locale, published_at }: Row): Parameters => ({
  ...(locale === null ? {} : { locale }),
  status: published_at === null ? 'draft' : 'published',
})

/** The text of an answer; `null` where there is none. */
export const textOf = (answer: ReadAnswer): string => {
  if (answer === null) return 'null'
  const text = Buffer.from(answer.bytes).toString('utf8')
  answer.release()
  return text
}
