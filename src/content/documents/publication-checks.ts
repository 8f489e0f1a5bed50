// Finds errors that would prevent the publication of drafts. Nothing is written, and no hooks run.
import { serviceTransaction, type Transaction } from '../../database/database.js'
import { ApiError } from '../../foundation/errors/errors.js'
import type { Grants } from '../../foundation/grants.js'
import { createPatternChecks } from '../../model/schema/patterns.js'
import type { ContentType } from '../../model/schema/types.js'
import { checkPublication, findTakenFor, type WriteContext } from './operation.js'
import { findVersions } from './store/rows.js'

export interface CheckedDrafts {
  /** Grants of the recipient of the errors. */
  readonly grants: Grants
  readonly type: ContentType
  readonly documentId: string
  /** Null for types without locales. */
  readonly locales: readonly (string | null)[]
}

/** An error as in `details.errors`. */
export interface PublicationError {
  readonly path: readonly string[]
  readonly message: string
  readonly name: string
}

/** Resolves to the errors of each locale, in order; none for a locale without a draft. */
export type CheckPublications = (asked: CheckedDrafts) => Promise<readonly (readonly PublicationError[])[]>

export function createPublicationChecks(context: WriteContext): CheckPublications {
  return ({ grants, type, documentId, locales }) =>
    serviceTransaction(context.database, async (transaction) => {
      const versions = await findVersions(transaction, type, documentId)
      const found: (readonly PublicationError[])[] = []
      for (const locale of locales) {
        const draft = versions.find((version) => version.published_at === null && version.locale === locale)
        found.push(draft === undefined ? [] : await findErrors(context, transaction, { grants, type, documentId, locale, id: draft.id }))
      }
      return found
    })
}

interface CheckedDraft extends Omit<CheckedDrafts, 'locales'> {
  readonly locale: string | null
  readonly id: number
}

async function findErrors(
  context: WriteContext,
  transaction: Transaction,
  { grants, type, documentId, locale, id }: CheckedDraft,
): Promise<readonly PublicationError[]> {
  const publication = { grants, write: { type }, data: null, locale, publishes: true, trials: createPatternChecks() }
  try {
    await checkPublication(context, transaction, publication, id, 'whole', findTakenFor(context, transaction, publication, documentId))
    return []
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 400) throw error
    const { errors = [] } = (error.details ?? {}) as { readonly errors?: readonly PublicationError[] }
    return errors.map(({ path, message, name }) => ({ path: path.map(String), message, name }))
  }
}
