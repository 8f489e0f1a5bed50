// Which versions of a document a request sees, on every way to its rows: the one place that decides. Pure data; conditions.ts
// turns a decision into SQL.
import type { Schema } from '../../model/schema/types.js'
import type { Contract } from '../contract.js'
import type { PathAttribute, ReadRequest, RowScopes, Status } from '../request.js'

/** A way to rows of `target`. */
export type Hop =
  /** In filters and sort keys, through an attribute of `owner`. */
  | { readonly kind: 'condition'; readonly owner: Schema; readonly attribute: PathAttribute; readonly target: Schema }
  /** In what is populated or counted, through an attribute of `owner`. */
  | { readonly kind: 'populate'; readonly owner: Schema; readonly attribute: PathAttribute; readonly target: Schema }
  /** The rows of one type that a morphTo names. */
  | { readonly kind: 'named'; readonly target: Schema; readonly versions: 'any' | 'status' }

/** What of a request decides which versions its hops see. */
export interface Seeing {
  readonly contract: Contract
  readonly status: Status
  readonly closedDrafts: ReadRequest['closedDrafts']
  /** Null inside a scope: it follows links to every row. */
  readonly scopes: RowScopes | null
}

/** The rows of a hop's target that a request sees. */
export interface Seen {
  /** `none`: no version at all. */
  readonly status: Status | 'none'
  /** Only the locales that the request chooses. */
  readonly chosenLocales: boolean
  /** Only what `publicationFilter` and `hasPublishedVersion` hold for. */
  readonly publication: boolean
  /** Only the other locales of the row that the hop starts from, in the same version. */
  readonly siblings: boolean
}

/** The rows that `hop` may see. Drafts of `closedDrafts` are in none. */
export function seenBy(seeing: Seeing, hop: Hop): Seen {
  if (seeing.scopes === null) return everyRow
  const seen = asked(seeing, hop)
  const { target } = hop
  if (target.kind === 'component' || !target.draftAndPublish || !seeing.closedDrafts.includes(target.uid)) return seen
  return { ...seen, status: seen.status === 'draft' ? 'none' : 'published' }
}

const everyRow: Seen = { status: 'any', chosenLocales: false, publication: false, siblings: false }

function asked({ contract, status }: Seeing, hop: Hop): Seen {
  const { target } = hop
  if (target.kind === 'component') return everyRow
  const versions: Status = target.draftAndPublish ? status : 'any'
  if (hop.kind === 'named')
    return hop.versions === 'any' ? everyRow : { ...everyRow, status: versions, publication: target.draftAndPublish }
  const { owner, attribute } = hop
  const leadsToSiblings = attribute.kind === 'relation' && attribute.storage.kind === 'localizations'
  if (hop.kind === 'condition') {
    if (contract.deepFiltersSeeAllVersions) return everyRow
    // The other locales of a document are in other locales.
    return { ...everyRow, status: versions, chosenLocales: !leadsToSiblings }
  }
  if (leadsToSiblings) return { ...everyRow, siblings: true }
  // A localized document is linked to rows of its own locale; the contract decides for others (row 10).
  const chosenLocales = owner.kind === 'contentType' && !owner.localized
  return { status: versions, chosenLocales, publication: target.draftAndPublish, siblings: false }
}
