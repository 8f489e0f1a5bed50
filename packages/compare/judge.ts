// The verdict on a pair of responses: the same, different as documented, or different, with the likely cause of each difference.
import { type Cause, causes } from './causes.js'
import type { Difference, JsonPath } from './difference.js'
import { type DocumentedRow, documentedRow } from './documented.js'
import type { KnownModel } from './known-model.js'
import { differencesOf, documentsOf, type ResponsePair } from './pair.js'
import { type PopulateTree, populateOf } from './populate-tree.js'

/** A difference with what explains it. */
export type Explained =
  | { readonly kind: 'documented'; readonly difference: Difference; readonly row: DocumentedRow }
  | { readonly kind: 'cause'; readonly difference: Difference; readonly cause: Cause }

/** The result for one pair. */
export interface Judgement {
  readonly pair: ResponsePair
  readonly explained: readonly Explained[]
  /** What to populate so that Octavo's response has what Strapi's has; null if nothing is missing. */
  readonly populate: PopulateTree | null
}

/** How differences are judged. */
export interface JudgeOptions {
  readonly model: KnownModel
  readonly isIgnored: (path: JsonPath) => boolean
}

/** Compares the responses of a pair. */
export function judge(pair: ResponsePair, { model, isIgnored }: JudgeOptions): Judgement {
  const explained = differencesOf(pair, isIgnored).map((difference): Explained => {
    const row = documentedRow(difference, pair)
    if (row !== null) return { kind: 'documented', difference, row }
    return { kind: 'cause', difference, cause: causes.find(({ matches }) => matches(difference, pair, model))! }
  })
  const names = explained.flatMap((one) =>
    one.kind === 'cause' && one.cause.name === 'populate' ? [String(one.difference.path.at(-1))] : [],
  )
  const populate =
    names.length === 0 ? null : populateOf(documentsOf(pair.strapi), [...new Set(names)], pair.addressed?.type ?? null, model)
  return { pair, explained, populate }
}

/** Whether nothing differs but what is documented. */
export const isAccepted = ({ explained }: Judgement): boolean => explained.every(({ kind }) => kind === 'documented')
