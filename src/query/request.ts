// A query string as nested parameters, and a read request as plain data. Every name in it exists in the model and is visible to the caller, so nothing has to be removed
// later. Values are separate, in `values`: the rest is the shape, the key of the plan cache.

import qs from 'qs'
import { type ApiError, validationError } from '../foundation/errors/errors.js'
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

/** The positions of the page's start and limit in `ReadRequest.values`. */
export const pageValues = { start: 0, limit: 1 } as const

/** An attribute that leads to other rows and can be filtered and sorted through. */
export type PathAttribute = Relation | Media | ComponentAttribute | MorphFrom

export type Filter =
  | { readonly kind: 'all' | 'any'; readonly of: readonly Filter[] }
  | { readonly kind: 'not'; readonly of: Filter }
  | { readonly kind: 'compare'; readonly attribute: Scalar; readonly operator: OperatorName; readonly values: readonly ValueIndex[] }
  | StateFilter
  | RelatedFilter

/** The state of a document in a locale; `changed`: published, and the draft differs. */
export const documentStates = ['draft', 'changed', 'published'] as const
export type DocumentState = (typeof documentStates)[number]

/** The name of the state among filters and fields. Only administrators use it. */
export const stateName = '$state'

/** A condition on the state of a document, in one of its versions. */
export interface StateFilter {
  readonly kind: 'state'
  readonly states: readonly DocumentState[]
  readonly model: Model
}

/** A condition on the targets of an attribute: it holds for one of them. */
export interface RelatedFilter {
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

/** The attributes of one level of the response. */
export interface Selection {
  readonly shape: Schema
  /** In the order of the model. */
  readonly fields: readonly Scalar[]
  readonly populate: readonly Populated[]
  /** Rows have their state as the member `$state`. */
  readonly state?: { readonly model: Model }
  /** For the targets of a morphTo: all of them, or those of the request's status. */
  readonly versions?: 'any' | 'status'
  /** Restricts the rows of this kind, if the attribute has rows of several kinds. */
  readonly filter?: Filter | null
  /** Members that are the same for every object, as JSON text. */
  readonly constants?: readonly { readonly name: string; readonly json: string }[]
}

interface LevelQuery {
  readonly filter: Filter | null
  readonly sort: readonly SortKey[]
  readonly of: Selection
}

/** Some of the targets of a relation, or of the entries of components, in their order. */
export interface LinkPage {
  readonly start: ValueIndex
  readonly limit: ValueIndex
}
export type Populated =
  | ({
      readonly kind: 'relation'
      readonly attribute: Relation | MorphFrom | Media
      readonly target: ContentType
      /** Only some of the targets, in their order: of all parent rows together. */
      readonly page?: LinkPage
    } & LevelQuery)
  | ({ readonly kind: 'component'; readonly attribute: ComponentAttribute; readonly page?: LinkPage } & LevelQuery)
  | { readonly kind: 'zone'; readonly attribute: DynamicZone; readonly on: readonly Selection[]; readonly page?: LinkPage }
  | { readonly kind: 'morph'; readonly attribute: MorphTo; readonly on: readonly Selection[]; readonly page?: LinkPage }
  | {
      readonly kind: 'count'
      readonly attribute: Relation | MorphFrom | MorphTo | ComponentAttribute
      readonly target: Schema | null
      readonly filter: Filter | null
      /** The types whose rows count, for a morphTo. */
      readonly of?: readonly ContentType[]
    }

/** By uid, the condition for the rows of a type that exist for the caller. Absent types have no scope. */
export type RowScopes = Readonly<Record<string, Filter | 'nothing'>>

/** `any`: every version; only for populated rows. */
export type Status = 'published' | 'draft' | 'any'
export type LocaleChoice =
  | { readonly kind: 'any' }
  | { readonly kind: 'values'; readonly values: readonly ValueIndex[] }
  | { readonly kind: 'filter'; readonly filter: Filter }

/** A condition on a document's draft and published version (`publicationFilter`, `hasPublishedVersion`). */
export interface Publication {
  readonly filter: PublicationFilter
  readonly negated: boolean
  readonly model: Model
}

export interface Page {
  /** The caller's style of pagination: decides the form of `meta.pagination`. */
  readonly style: 'page' | 'offset'
  readonly start: number
  readonly limit: number
  readonly withCount: boolean
}

/** A page of a list that continues after or before a row. */
export interface Keyset {
  /** The row before the page; null: the page is the first one, or, backwards, the last one. */
  readonly position: KeysetPosition | null
  /** The rows are in reverse order, and `position` is the row after the page. */
  readonly backwards: boolean
}

/** The position of a row in the order of a list. */
export interface KeysetPosition {
  /** One value for each sort key; null: the row has none. */
  readonly values: readonly (ValueIndex | null)[]
  readonly id: ValueIndex
}

/** `many`: a list with a page. `first`: one row, or none. */
export interface ReadRequest {
  readonly type: ContentType
  readonly mode: 'many' | 'first'
  readonly status: Status
  readonly locale: LocaleChoice
  /** The locales of localized targets of relations, unless the links imply it; null: any. */
  readonly targetLocale: LocaleChoice | null
  readonly filter: Filter | null
  readonly publication: readonly Publication[]
  /** The uids of types whose drafts are hidden from every part of the request (`api.rest.draftGrant`). */
  readonly closedDrafts: readonly string[]
  /** Rows outside of these are hidden from every part of the request. */
  readonly scopes: RowScopes
  readonly sort: readonly SortKey[]
  readonly page: Page
  /** Set for keyset pages; each row then has the values of its sort keys as members `$0`, `$1`. */
  readonly keyset?: Keyset
  readonly selection: Selection
  readonly format: 'flat' | 'nested'
  /** The position in `values` of the identity of the requested row; -1 without one. */
  readonly identityAt: ValueIndex
  readonly values: readonly unknown[]
}

export type Parameters = Readonly<Record<string, unknown>>

/** Parses `a[b][c]=d&e[0]=f`; deeper keys stay literal, later parameters are dropped, longer lists become objects. Never throws. */
export function parseParameters(query: string, arrayLimit = 100): Parameters {
  if (query === '') return {}
  return qs.parse(query, { strictNullHandling: true, arrayLimit, depth: 20, parameterLimit: 1000 })
}

/** The same for a request. @throws ApiError 400 for a list of more members than `arrayLimit` */
export function readParameters(query: string, arrayLimit = 100): Parameters {
  const parameters = parseParameters(query, arrayLimit)
  for (const name of listParameters) refuseLongLists(parameters[name], [name], arrayLimit)
  return parameters
}

/** The parameters that may have lists. */
const listParameters = ['filters', 'sort', 'fields', 'populate', 'locale']

function refuseLongLists(value: unknown, path: readonly string[], max: number): void {
  if (typeof value !== 'object' || value === null) return
  const entries = Object.entries(value)
  if (entries.length > max && entries.every(([key]) => /^\d+$/.test(key))) throw tooLongError(path, entries.length, max)
  for (const [key, inner] of entries) refuseLongLists(inner, [...path, key], max)
}

function tooLongError(path: readonly string[], members: number, max: number): ApiError {
  const [param = '', ...rest] = path
  const message =
    path.at(-1) === 'populate'
      ? `Too many populate entries (${members}). The maximum number of populate entries when using array notation is ${max}. Consider using object notation (populate[field]=true), nested population, or reducing the number of fields.`
      : `Too many members in ${param}${rest.map((key) => `[${key}]`).join('')} (${members}). A list in a query string has at most ${max} members (api.rest.arrayLimit).`
  return validationError(message, { source: 'query', param }).because([{ path, message, code: 'tooMany', params: { max } }])
}

/** True for an object of parameters, false for lists, strings and null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
