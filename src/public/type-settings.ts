// The public types of what a project decides for one content-type: `types` in octavo.config.
import type { Criteria, DocumentService, OperationCaller } from './documents.js'

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

/** What a read of the API takes where the request says nothing; the request's own parameters are not merged with these, they win. */
export interface QueryDefaults extends Omit<Criteria, '_q'> {
  /** Documents on a page. */
  readonly pageSize?: number
}

/** What the project decides for one content-type. */
export interface TypeSettings {
  /** Holds for GET of lists and of single documents. The caller's permissions apply to it as to a query of its own. */
  readonly defaults?: QueryDefaults
  /**
   * Which documents of the type exist for a caller of the API. Called once for each request. It holds on every way to them: lists, single
   * documents, totals, filters and sort keys through relations, populate, and writes.
   */
  readonly scope?: (call: ScopeCall) => ScopeResult | Promise<ScopeResult>
}
