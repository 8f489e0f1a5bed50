// What a read asks for, as plain data. Every name in it has been found in the model and may be seen by the caller,
// so nothing has to be removed later. Values stand apart, in `values`: the rest is the shape that plans are cached by.

import type { PublicationFilter } from '../foundation/public/content/queries.js'
import type {
  ComponentAttribute,
  ContentType,
  DynamicZone,
  Media,
  Model,
  MorphFrom,
  MorphTo,
  Relation,
  Scalar,
  Schema,
} from '../model/schema/types.js'
import type { OperatorName } from './operators.js'

/** The position of a value in `ReadRequest.values`. */
export type ValueIndex = number

/** Where the page's start and limit stand in `ReadRequest.values`. */
export const pageValues = { start: 0, limit: 1 } as const

/** An attribute that leads to other rows and can be filtered and sorted through. */
export type PathAttribute = Relation | Media | ComponentAttribute | MorphFrom

export type Filter =
  | { readonly kind: 'all' | 'any'; readonly of: readonly Filter[] }
  | { readonly kind: 'not'; readonly of: Filter }
  | { readonly kind: 'compare'; readonly attribute: Scalar; readonly operator: OperatorName; readonly values: readonly ValueIndex[] }
  | Related

/** A condition on what an attribute leads to: it holds for one of the targets. */
export interface Related {
  readonly kind: 'related'
  readonly path: PathAttribute
  readonly target: Schema
  readonly where: Filter
}

/** One key to sort by: through `path`, by `attribute` of the last target. */
export interface SortKey {
  readonly path: readonly { readonly attribute: PathAttribute; readonly target: Schema }[]
  readonly attribute: Scalar
  readonly descending: boolean
}

/** The attributes of one level of the answer. */
export interface Selection {
  readonly shape: Schema
  /** In the order of the model. */
  readonly fields: readonly Scalar[]
  readonly populate: readonly Populated[]
  /** Behind a morphTo: all rows that it names, or those of the request's status. */
  readonly versions?: 'any' | 'status'
  /** Which rows, where the attribute holds rows of several kinds. */
  readonly filter?: Filter | null
  /** Members that are the same for every object, as JSON text. */
  readonly constants?: readonly { readonly name: string; readonly json: string }[]
}

interface Narrowed {
  readonly filter: Filter | null
  readonly sort: readonly SortKey[]
  readonly of: Selection
}

/** Some of the targets of a relation, or of the entries of components, in their order. */
export interface LinkPage {
  readonly start: ValueIndex
  readonly limit: ValueIndex
}

/** An attribute that is filled with other rows. */
export type Populated =
  | ({
      readonly kind: 'relation'
      readonly attribute: Relation | MorphFrom | Media
      readonly target: ContentType
      /** Only some of the targets, in their order: of all rows above together. */
      readonly page?: LinkPage
    } & Narrowed)
  | ({ readonly kind: 'component'; readonly attribute: ComponentAttribute; readonly page?: LinkPage } & Narrowed)
  | { readonly kind: 'zone'; readonly attribute: DynamicZone; readonly on: readonly Selection[]; readonly page?: LinkPage }
  | { readonly kind: 'morph'; readonly attribute: MorphTo; readonly on: readonly Selection[]; readonly page?: LinkPage }
  | {
      readonly kind: 'count'
      readonly attribute: Relation | MorphFrom | MorphTo | ComponentAttribute
      readonly target: Schema | null
      readonly filter: Filter | null
      /** The types whose rows count, behind a morphTo. */
      readonly of?: readonly ContentType[]
    }

/** By uid, what the rows of a type fulfil that exist for the caller. A type that is absent has no scope. */
export type RowScopes = Readonly<Record<string, Filter | 'nothing'>>

/** `any`: every version, of what is populated. */
export type Status = 'published' | 'draft' | 'any'

/** Which locales the rows may have. `default`: the one that the installation calls its default. */
export type LocaleChoice =
  | { readonly kind: 'any' }
  | { readonly kind: 'values'; readonly values: readonly ValueIndex[] }
  | { readonly kind: 'filter'; readonly filter: Filter }

/** A condition on a document's draft and published version (`publicationFilter`, `hasPublishedVersion`). */
export interface Publication {
  readonly filter: PublicationFilter
  readonly negated: boolean
  /** What the content of the two is compared by. */
  readonly model: Model
}

export interface Page {
  /** Whether the caller counted in pages or in offsets: decides the form of `meta.pagination`. */
  readonly style: 'page' | 'offset'
  readonly start: number
  readonly limit: number
  readonly withCount: boolean
}

/** A page of a list that is found by the row next to it. */
export interface Keyset {
  /** The row before the first of the page; null: the page is the first, or the last one where it goes backwards. */
  readonly position: KeysetPosition | null
  /** The rows come in the opposite order, and `position` is the row behind the page. */
  readonly backwards: boolean
}

/** Where a row stands in the order of a list. */
export interface KeysetPosition {
  /** One for each sort key; null: the row has no value. */
  readonly values: readonly (ValueIndex | null)[]
  readonly id: ValueIndex
}

/** `many`: a list with a page. `first`: one row, or none. */
export interface ReadRequest {
  readonly type: ContentType
  readonly mode: 'many' | 'first'
  readonly status: Status
  readonly locale: LocaleChoice
  /** Which locales localized targets of relations may have, where the links do not say it already; null: any. */
  readonly targetLocale: LocaleChoice | null
  readonly filter: Filter | null
  readonly publication: readonly Publication[]
  /** The uids of the types whose drafts no part of the request may see (`api.rest.draftGrant`). */
  readonly closedDrafts: readonly string[]
  /** No part of the request sees a row outside of these. */
  readonly scopes: RowScopes
  readonly sort: readonly SortKey[]
  readonly page: Page
  /** Set where the page is found by the row next to it; each row then has the values of its sort keys as members `$0`, `$1`. */
  readonly keyset?: Keyset
  readonly selection: Selection
  readonly format: 'flat' | 'nested'
  /** Where the identity of the one wanted row stands in `values`; -1 without one. */
  readonly identityAt: ValueIndex
  readonly values: readonly unknown[]
}
