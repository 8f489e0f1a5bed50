// Finds errors that would prevent the publication of drafts. Nothing is written, and no hooks run.
import { serviceTransaction } from '../../database/database.js'
import { ApiError } from '../../foundation/errors/errors.js'
import type { InputMistake } from '../../foundation/errors/issues.js'
import type { Grants } from '../../foundation/grants.js'
import { createPatternChecks } from '../../model/schema/patterns.js'
import type { ContentType } from '../../model/schema/types.js'
import { emptyRequired } from './input/relations.js'
import { checkPublication, findTakenFor, type PublicationScope, type WriteContext } from './operation.js'
import { readWhole } from './read/find.js'
import { findVersions } from './store/rows.js'

interface CheckedDrafts {
  /** Grants of the recipient of the errors. */
  readonly grants: Grants
  readonly type: ContentType
  readonly documentId: string
  /** Null for types without locales. */
  readonly locales: readonly (string | null)[]
}

/** The state of a draft before a publication. */
interface PublicationCheck {
  /** Errors that would refuse the publication. */
  readonly errors: readonly InputMistake[]
  /** Empty required attributes that would not. */
  readonly hints: readonly InputMistake[]
}

/** Resolves to the checks of each locale, in order; without errors for a locale without a draft. */
export type CheckPublications = (asked: CheckedDrafts) => Promise<readonly PublicationCheck[]>

export function createPublicationChecks(context: WriteContext): CheckPublications {
  return ({ grants, type, documentId, locales }) =>
    serviceTransaction(context.database, async (transaction) => {
      const versions = await findVersions(transaction, type, documentId)
      const found: PublicationCheck[] = []
      for (const locale of locales) {
        const draft = versions.find((version) => version.published_at === null && version.locale === locale)
        const operation = { grants, data: null, locale, publishes: true, trials: createPatternChecks() }
        const scope = { ...context, transaction, type, operation }
        found.push(draft === undefined ? { errors: [], hints: [] } : await checkDraft(scope, documentId, draft.id))
      }
      return found
    })
}

async function checkDraft(scope: PublicationScope, documentId: string, id: number): Promise<PublicationCheck> {
  const errors = await findErrors(scope, documentId, id)
  const wrong = new Set(errors.map(({ path }) => path.join('/')))
  const document = (await readWhole(scope, scope.type, id, 'required')) ?? {}
  const empty = emptyRequired(scope.read.model, scope.type, document)
  const hints = empty.filter(({ path }) => !wrong.has(path.join('/'))).map(({ path, message, issue }) => ({ path, message, ...issue }))
  return { errors, hints }
}

async function findErrors(scope: PublicationScope, documentId: string, id: number): Promise<readonly InputMistake[]> {
  try {
    await checkPublication(scope, id, 'whole', findTakenFor(scope, documentId))
    return []
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 400) throw error
    return error.mistakes ?? [{ path: [], message: error.message }]
  }
}
