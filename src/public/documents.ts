// The public types for scripts and hooks: the document service, and the hooks of octavo.config.
import type { Grants } from '../grants.js'
import type { ContentTypeShape, ShapeOf, Uid } from './content/content-types.js'
import type { RowIn } from './content/results.js'
import type { AnyText, NoSuchName } from './content/selection.js'
import type { TypedDocuments } from './content/typed-documents.js'

/** A document as plain data. `Documents<Article>` gives its attributes their types. */
export interface Document {
  readonly id: number
  readonly documentId: string
  readonly [attribute: string]: unknown
}

/** `'author'`, `['author', 'tags.icon']`, `'*'`, or an object with parameters for each attribute. */
export type Populate = string | readonly string[] | Readonly<Record<string, unknown>>

/** The fields and relations of a result. */
export interface Shown {
  /** Attributes to include; default: all. */
  readonly fields?: string | readonly string[]
  readonly populate?: Populate
}

/** Selects a version of a document. */
export interface Version extends Shown {
  /** A locale; default: the default locale. */
  readonly locale?: string
  /** Default: `draft`. A write with `published` publishes. */
  readonly status?: 'draft' | 'published'
}

/** Selects documents. Filters and sort keys are those of the REST API, as objects. */
export interface Criteria extends Version {
  readonly filters?: Readonly<Record<string, unknown>>
  readonly sort?: string | readonly unknown[] | Readonly<Record<string, unknown>>
  /** Text to search in all text attributes. */
  readonly _q?: string
}

/** Parameters of a list. */
export interface ListParameters extends Criteria {
  /** Number of documents to skip. */
  readonly start?: number
  /** Maximum number of documents; default: all. */
  readonly limit?: number
  /** The same as pages, counted from 1, or as offsets. */
  readonly pagination?: { readonly page?: number; readonly pageSize?: number } | { readonly start?: number; readonly limit?: number }
}

/** Identifies a document. Single types have one document, so its documentId is optional. */
export interface Identity {
  readonly documentId?: string
}

/** Attributes and their values, as in the `data` of a request body. Dates are converted to ISO text. */
export type Data = Readonly<Record<string, unknown>>

/** The versions that an operation affected; deleted versions as they were before. */
export interface Entries<Shape> {
  readonly documentId: string
  readonly entries: readonly Shape[]
}

/**
 * The documents of one type, with the methods of Strapi 5's document service. Every method throws an `ApiError`: 400 for invalid
 * parameters, 403 without permission, 503 if the database is busy.
 */
export interface Documents<Shape = Document> {
  findMany(parameters?: ListParameters): Promise<Shape[]>
  findFirst(parameters?: Criteria): Promise<Shape | null>
  findOne(parameters: Identity & Version): Promise<Shape | null>
  count(parameters?: Omit<Criteria, 'fields' | 'populate' | 'sort'>): Promise<number>
  /** Creates a draft, and publishes it with `status: 'published'`. */
  create(parameters: Version & { readonly data: Data }): Promise<Shape>
  /** Changes the draft, and publishes it with `status: 'published'`. Null if there is no such document. */
  update(parameters: Identity & Version & { readonly data: Data }): Promise<Shape | null>
  /** Deletes the versions in one locale, or with `*` in all. */
  delete(parameters?: Identity & Omit<Version, 'status'>): Promise<Entries<Shape>>
  /** Publishes the draft in one locale, or with `*` in all. This and the next two are only for types with Draft & Publish. */
  publish(parameters?: Identity & Omit<Version, 'status'>): Promise<Entries<Shape>>
  unpublish(parameters?: Identity & Omit<Version, 'status'>): Promise<Entries<Shape>>
  /** Replaces the draft by the published version. */
  discardDraft(parameters?: Identity & Omit<Version, 'status'>): Promise<Entries<Shape>>
}

/** Options of `documents(uid)`. */
export interface DocumentOptions {
  /** What may be done; default: everything. */
  readonly grants?: Grants
}

/**
 * Returns the documents of a type: `documents('api::article.article')`. If `octavo types` has described the project, the uid is one of its
 * types, and parameters and results have their types; `documents<Article>(uid)` gives results a type of your own.
 */
export type DocumentService = <Type extends Uid | AnyText | object>(
  uid: Type extends string ? Type & KnownUid<Type> : string,
  options?: DocumentOptions,
) => DocumentsOf<Type>

/** The uids that may be given: those of the project if they are known; a text that is not known before it runs is always allowed. */
type KnownUid<Type extends string> = string extends Type
  ? unknown
  : [Uid] extends [never]
    ? unknown
    : Type extends Uid
      ? unknown
      : NoSuchName<Type, Uid>

/** The documents of a type, typed as far as the project is known. */
export type DocumentsOf<Type> = Type extends string
  ? Type extends Uid
    ? ShapeOf<Type> extends infer T
      ? T extends ContentTypeShape
        ? TypedDocuments<T>
        : never
      : never
    : Documents
  : Documents<Type>

/** The operations that hooks run for. */
export type HookAction = 'create' | 'update' | 'delete' | 'publish' | 'unpublish' | 'discardDraft'

/** The caller of an operation. */
export interface OperationCaller {
  readonly kind: 'public' | 'token' | 'user'
  /** The row id of the token or user. */
  readonly id?: number
}

interface HookCall {
  readonly action: HookAction
  readonly uid: string
  /** `*` for all locales; null for types that are not localized. */
  readonly locale: string | null
  /** `published` if a create or update publishes; always `published` for types without Draft & Publish. */
  readonly status: 'draft' | 'published'
  /** Null for a script or another hook. */
  readonly caller: OperationCaller | null
  /** The document service without restrictions. A write by a hook is a separate operation with its own hooks. */
  readonly documents: DocumentService
  /** Aborted after `limits.hookTimeout`. */
  readonly signal: AbortSignal
}

/** The argument of a before-hook, which runs before the transaction. */
export interface BeforeCall extends HookCall {
  /** Null for a create, and for a single type requested without its id. */
  readonly documentId: string | null
  /** The data to write, not validated yet; may be changed or replaced. Null if the action writes no data. */
  data: Record<string, unknown> | null
}

/** The argument of an after-hook, which runs after the commit. */
export interface AfterCall extends HookCall {
  readonly documentId: string
  /** The data to write. */
  readonly data: Data | null
  /** The versions that were written, published, deleted …; several if the operation affects several locales. */
  readonly entries: readonly Document[]
}

/** Project code that runs once for every operation on documents, by requests, scripts and other hooks. */
export interface Hook {
  /** The name in the log. */
  readonly name?: string
  /** Default: all types. */
  readonly types?: readonly string[]
  /** Default: all actions. */
  readonly actions?: readonly HookAction[]
  /** Runs before the transaction. An `ApiError`, or an error with the name of one, becomes the response; any other error is logged as 500. */
  readonly before?: (call: BeforeCall) => unknown
  /** Runs after the commit, before the response. Errors are logged. */
  readonly after?: (call: AfterCall) => unknown
}

/** The versions that a hook gets of a type. */
type EntryOf<Type extends string> = Type extends Uid
  ? ShapeOf<Type> extends infer T
    ? T extends ContentTypeShape
      ? RowIn<T, 'any', undefined, undefined>
      : never
    : never
  : Document

/** A hook for named types: if `octavo types` has described the project, the names must exist, and `entries` have their types. */
export interface HookOf<Type extends string> extends Omit<Hook, 'types' | 'before' | 'after'> {
  readonly types: readonly (Type & KnownUid<Type>)[]
  readonly before?: (call: BeforeCall & { readonly uid: Type }) => unknown
  readonly after?: (call: Omit<AfterCall, 'entries'> & { readonly uid: Type; readonly entries: readonly EntryOf<Type>[] }) => unknown
}
