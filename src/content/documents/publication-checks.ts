// Finds errors that would prevent the publication of drafts. Nothing is written, and no hooks run.
import { serviceTransaction } from '../../database/database.js'
import { ApiError } from '../../foundation/errors/errors.js'
import type { Grants } from '../../foundation/grants.js'
import { createPatternChecks } from '../../model/schema/patterns.js'
import type { ContentType } from '../../model/schema/types.js'
import { checkPublication, findTakenFor, type PublicationScope, type WriteContext } from './operation.js'
import { findVersions } from './store/rows.js'

interface CheckedDrafts {
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
        const operation = { grants, data: null, locale, publishes: true, trials: createPatternChecks() }
        found.push(draft === undefined ? [] : await findErrors({ ...context, transaction, type, operation }, documentId, draft.id))
      }
      return found
    })
}

async function findErrors(scope: PublicationScope, documentId: string, id: number): Promise<readonly PublicationError[]> {
  try {
    await checkPublication(scope, id, 'whole', findTakenFor(scope, documentId))
    return []
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 400) throw error
    const { errors = [] } = (error.details ?? {}) as { readonly errors?: readonly PublicationError[] }
    return errors.map(({ path, message, name }) => ({ path: path.map(String), message, name }))
  }
}
