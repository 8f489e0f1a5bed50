// Reading drafts as a right of its own (`api.rest.draftGrant`): the action `findDraft` of a type with Draft & Publish.
import { forbidden } from '../errors.js'
import type { Grants } from '../grants.js'
import type { ContentType, Model } from '../model/types.js'
import { type Parameters, parseParameters } from '../query/parameters.js'

/** Query strings that may be about drafts: named plainly or in percent signs. */
const suspicious = /status|publi|%/i

/** True if a read sees drafts, or learns which documents have one. */
function asksForDrafts(query: string | Parameters): boolean {
  if (typeof query === 'string' && !suspicious.test(query)) return false
  const { status, hasPublishedVersion, publicationFilter } = typeof query === 'string' ? parseParameters(query) : query
  return (status !== undefined && status !== 'published') || hasPublishedVersion !== undefined || publicationFilter !== undefined
}

/**
 * The grants under which a read happens: for one of drafts, relations to types whose drafts the caller may not see are
 * treated like relations without permission.
 * @throws ApiError 403 if the caller may not see drafts of `type` itself.
 */
export function grantsForRead(model: Model, grants: Grants, type: ContentType, query: string | Parameters): Grants {
  if (!asksForDrafts(query)) return grants
  const mayDraft = ({ uid, draftAndPublish }: ContentType) => !draftAndPublish || grants.may(`${uid}.findDraft`)
  if (!mayDraft(type)) throw forbidden()
  return {
    key: `${grants.key} drafts`,
    may: (action) => {
      const target = action.endsWith('.find') ? model.types.get(action.slice(0, -'.find'.length)) : undefined
      return grants.may(action) && (target === undefined || mayDraft(target))
    },
  }
}
