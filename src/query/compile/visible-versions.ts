// The versions of documents that a request sees on each hop to other rows, decided in this file alone. Pure data; conditions.ts
// compiles the decision into SQL.
import type { Schema } from '../../model/schema/types.js'
import type { Contract } from '../contract.js'
import type { PathAttribute, ReadRequest, RowScopes, Status } from '../request.js'

/** A step to rows of `target`. */
export type Hop =
  /** In filters and sort keys, through an attribute of `owner`. */
  | { readonly kind: 'condition'; readonly owner: Schema; readonly attribute: PathAttribute; readonly target: Schema }
  /** In populated or counted attributes, through an attribute of `owner`. */
  | { readonly kind: 'populate'; readonly owner: Schema; readonly attribute: PathAttribute; readonly target: Schema }
  /** The rows of one type that a morphTo points to. */
  | { readonly kind: 'named'; readonly target: Schema; readonly versions: 'any' | 'status' }

/** The parts of a request that decide about visible versions. */
export interface VersionContext {
  readonly contract: Contract
  readonly status: Status
  readonly closedDrafts: ReadRequest['closedDrafts']
  /** Null inside a scope: it follows links to every row. */
  readonly scopes: RowScopes | null
}
export interface VisibleVersions {
  /** `none`: no version at all. */
  readonly status: Status | 'none'
  /** Only the locales that the request chooses. */
  readonly chosenLocales: boolean
  /** Only what `publicationFilter` and `hasPublishedVersion` hold for. */
  readonly publication: boolean
  /** Only the other locales of the row that the hop starts from, in the same version. */
  readonly siblings: boolean
}

/** The versions that `hop` may see: never drafts of `closedDrafts`. */
export function getVisibleVersions(seeing: VersionContext, hop: Hop): VisibleVersions {
  if (seeing.scopes === null) return everyVersion
  const seen = getRequestedVersions(seeing, hop)
  const { target } = hop
  if (target.kind === 'component' || !target.draftAndPublish || !seeing.closedDrafts.includes(target.uid)) return seen
  return { ...seen, status: seen.status === 'draft' ? 'none' : 'published' }
}

const everyVersion: VisibleVersions = { status: 'any', chosenLocales: false, publication: false, siblings: false }

function getRequestedVersions({ contract, status }: VersionContext, hop: Hop): VisibleVersions {
  const { target } = hop
  if (target.kind === 'component') return everyVersion
  const versions: Status = target.draftAndPublish ? status : 'any'
  if (hop.kind === 'named')
    return hop.versions === 'any' ? everyVersion : { ...everyVersion, status: versions, publication: target.draftAndPublish }
  const { owner, attribute } = hop
  const leadsToSiblings = attribute.kind === 'relation' && attribute.storage.kind === 'localizations'
  if (hop.kind === 'condition') {
    if (contract.deepFiltersSeeAllVersions) return everyVersion
    // The other locales of a document are in other locales.
    return { ...everyVersion, status: versions, chosenLocales: !leadsToSiblings }
  }
  if (leadsToSiblings) return { ...everyVersion, siblings: true }
  // A localized document has links to rows of the same locale; the contract decides for others (row 10).
  const chosenLocales = owner.kind === 'contentType' && !owner.localized
  return { status: versions, chosenLocales, publication: target.draftAndPublish, siblings: false }
}
