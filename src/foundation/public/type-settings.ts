// The public types of what a project decides for one content-type: `types` in octavo.config.
import type { Criteria, DocumentService, HookAction, OperationCaller } from './documents.js'

/** The argument of a scope. */
export interface ScopeCall {
  /** The type. */
  readonly uid: string
  readonly caller: OperationCaller
  /** True if the caller may perform an action, e.g. `api::article.article.publish`. */
  may(action: string): boolean
  /** The document service without restrictions. */
  readonly documents: DocumentService
  /** Aborted after `limits.hookTimeout`. */
  readonly signal: AbortSignal
}

/** True: all documents; false: none; filters as in a request, as an object: the versions that fulfil them. A write needs all of a document's. */
export type ScopeResult = boolean | Readonly<Record<string, unknown>>

/** Defaults of reads of the API; the request's own parameters are not merged with these, they win. */
export interface QueryDefaults extends Omit<Criteria, '_q'> {
  /** Documents on a page. */
  readonly pageSize?: number
}

/** An action of the API on a type; `find` is also the read of a single type. */
export type ApiAction = 'find' | 'findOne' | HookAction

interface TypeCall {
  readonly uid: string
  readonly action: ApiAction
  /** Null for lists, creates and single types. */
  readonly documentId: string | null
  readonly caller: OperationCaller
  /** True if the caller may perform an action, e.g. `api::article.article.publish`. */
  may(action: string): boolean
  /** The document service without restrictions. */
  readonly documents: DocumentService
  /** Aborted after `limits.hookTimeout`. */
  readonly signal: AbortSignal
}

/** The parameters of a query string, as objects: populate, filters, sort, pagination and others, not validated yet. */
export type RequestQuery = Record<string, unknown>

/** The argument of a policy: copies, which it cannot change anything by. */
export interface PolicyCall extends TypeCall {
  readonly query: Readonly<RequestQuery>
  /** The `data` of the body, not validated yet; null if the action takes none. */
  readonly data: Readonly<Record<string, unknown>> | null
}

/** True if the caller may do this. It may throw an error with the name of one of the API's errors, to be the response. */
export type Policy = (call: PolicyCall) => boolean | Promise<boolean>

/** The argument of a hook before a read. */
export interface ReadBeforeCall extends TypeCall {
  /** May be changed or replaced. The caller's permissions apply to it. */
  query: RequestQuery
}

/** A response to a read, which a hook may change. */
export interface ReadResponse {
  /** `nested`: the client asked for the format of Strapi 4. */
  readonly format: 'flat' | 'nested'
  /** `data`, and `meta` with the pagination of a list. */
  body: { data: unknown; meta: Record<string, unknown> }
}

/** The argument of a hook after a read. */
export interface ReadAfterCall extends TypeCall {
  readonly query: Readonly<RequestQuery>
  readonly response: ReadResponse
}

/** Hooks around GET of lists and of single documents. Errors are thrown as in policies. */
export interface ReadHooks {
  before?(call: ReadBeforeCall): void | Promise<void>
  /** Costs every read that its response is parsed and written again. Not called where there is no document. */
  after?(call: ReadAfterCall): void | Promise<void>
}

/** The routes of a type that there are (`only`), or those that there are not (`except`). */
export type RouteSelection =
  | { readonly only: readonly ApiAction[]; readonly except?: undefined }
  | { readonly except: readonly ApiAction[]; readonly only?: undefined }

/** Settings of one content-type. */
export interface TypeSettings {
  /** Holds for GET of lists and of single documents. The caller's permissions apply to it. */
  readonly defaults?: QueryDefaults
  /**
   * Filters of the documents that exist for a caller of the API. Called once for each request that may reach content. It holds on every way to them: lists, single
   * documents, totals, filters and sort keys through relations, populate, and writes.
   */
  readonly scope?: (call: ScopeCall) => ScopeResult | Promise<ScopeResult>
  /** By action, whether a request is allowed that the caller has the permission for; false is 403. Not asked where documents are populated. */
  readonly policies?: Readonly<Partial<Record<ApiAction, Policy>>>
  readonly reads?: ReadHooks
  /** Leaves routes of the type out. They do not exist over HTTP for any caller; `documents` of code is not concerned. Default: it has all. */
  readonly routes?: RouteSelection
}
