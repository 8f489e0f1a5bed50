// What scripts and hooks may say of documents of a described type: which ones, and which version. Shared by `documents(uid)` and transactions.
import type { ContentTypeShape } from './content-types.js'
import type { CriteriaQuery, ShownAttributes } from './queries.js'

/** Scripts and hooks read drafts unless they say otherwise. */
export type StateOf<Asked> = [Asked] extends [undefined] ? 'draft' : Asked

/** Names a document. A single type has only one. */
export type NamedBy<T extends ContentTypeShape> = T['kind'] extends 'singleType'
  ? { readonly documentId?: string }
  : { readonly documentId: string }

/** The parameters of a list: criteria, and the part of it. */
export type ListOf<T extends ContentTypeShape, Asked, Selected, Given, Sorted> = CriteriaQuery<T, Asked, Selected, Given, Sorted> & {
  /** Number of documents to skip. */
  readonly start?: number
  /** Maximum number of documents; default: all. */
  readonly limit?: number
  /** The same as pages, counted from 1, or as offsets. */
  readonly pagination?: { readonly page?: number; readonly pageSize?: number } | { readonly start?: number; readonly limit?: number }
}

/** Names the versions in one locale, or with `*` in all. */
export type VersionsOf<T extends ContentTypeShape, Selected, Given> = NamedBy<T> &
  ShownAttributes<T, Selected, Given> & { readonly locale?: string }

/** Several documents: these, or those that match filters. See `DocumentSelection`. */
export type SelectionOf<T extends ContentTypeShape> =
  | { readonly documentIds: readonly string[]; readonly filters?: never }
  | { readonly documentIds?: never; readonly filters: T['filters'] }
