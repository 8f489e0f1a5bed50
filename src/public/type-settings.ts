// The public types of what a project decides for one content-type: `types` in octavo.config.
import type { DocumentService, OperationCaller } from './documents.js'

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

/** True: all documents; false: none; filters as in a request, as an object: the documents whose every version fulfils them. */
export type ScopeResult = boolean | Readonly<Record<string, unknown>>

/** What the project decides for one content-type. */
export interface TypeSettings {
  /**
   * Which documents of the type exist for a caller of the API. Called once for each request. It holds on every way to them: lists, single
   * documents, totals, filters and sort keys through relations, populate, and writes.
   */
  readonly scope?: (call: ScopeCall) => ScopeResult | Promise<ScopeResult>
}
