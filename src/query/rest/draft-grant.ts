// Reading drafts as a right of its own (`api.rest.draftGrant`): the action `findDraft` of a type with Draft & Publish.
import type { Grants } from '../../foundation/grants.js'
import type { ContentType, Model } from '../../model/schema/types.js'
import type { Parameters } from './parameters.js'

/** What a caller may see of drafts in one request. */
export interface DraftAccess {
  /** The uids of the types whose drafts the caller may not see. No hop of the request sees one (visible-versions.ts). */
  readonly closed: readonly string[]
  /**
   * The grants under which the request is read: in one about drafts, relations to closed types are treated like relations
   * without permission.
   */
  readonly grants: Grants
  /** The request is about drafts of its own type, and that type is closed. */
  readonly isClosed: boolean
}

/** Whether `grants` allow to read drafts of `type`. `needsGrant`: false where drafts need no grant of their own. */
export const mayReadDrafts = (needsGrant: boolean, grants: Grants, { uid, draftAndPublish }: ContentType): boolean =>
  !needsGrant || !draftAndPublish || grants.may(`${uid}.findDraft`)

const nothingClosed: readonly string[] = []

/** What `grants` allow in a request for `type`. `needsGrant`: false where drafts need no grant of their own. */
export function draftAccess(model: Model, needsGrant: boolean, grants: Grants, type: ContentType, parameters: Parameters): DraftAccess {
  const closed = needsGrant
    ? [...model.types.values()].filter((one) => !mayReadDrafts(true, grants, one)).map(({ uid }) => uid)
    : nothingClosed
  if (closed.length === 0 || !asksForDrafts(parameters)) return { closed, grants, isClosed: false }
  const closedActions = new Set(closed.map((uid) => `${uid}.find`))
  return {
    closed,
    grants: { ...grants, key: `${grants.key} drafts`, may: (action) => !closedActions.has(action) && grants.may(action) },
    isClosed: closed.includes(type.uid),
  }
}

/** True if a request sees drafts, or learns which documents have one. */
const asksForDrafts = (parameters: Parameters): boolean =>
  (parameters.status !== undefined && parameters.status !== 'published') || asksForPublication(parameters)

/** True if a request compares the versions of documents. */
export const asksForPublication = ({ hasPublishedVersion, publicationFilter }: Parameters): boolean =>
  hasPublishedVersion !== undefined || publicationFilter !== undefined
