// The public types of the document service, by which scripts and other code of a project read and write documents.
import type { Grants } from '../grants.js'
import type { ContentTypeShape, ShapeOf, Uid } from './content/content-types.js'
import type { AnyText, NoSuchName } from './content/selection.js'
import type { TypedDocuments } from './content/typed-documents.js'
import type { Entries } from './write-results.js'

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

/**
 * Several documents: these, all of which have to be there, or those that match filters when they are written. `{ filters: {} }` means all. At
 * most `limits.transactionOperations`.
 */
export type DocumentSelection =
  | { readonly documentIds: readonly string[]; readonly filters?: never }
  | { readonly documentIds?: never; readonly filters: Readonly<Record<string, unknown>> }

/** Attributes and their values, as in the `data` of a request body. Dates are converted to ISO text. */
export type Data = Readonly<Record<string, unknown>>

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
  /** Creates a document for each entry of `data`, all of them or none; in the order of `data`. */
  createMany(parameters: Version & { readonly data: readonly Data[] }): Promise<Shape[]>
  /** Changes several documents in the same way, all of them or none. */
  updateMany(parameters: DocumentSelection & Version & { readonly data: Data }): Promise<Shape[]>
  /** Deletes several documents, all of them or none. */
  deleteMany(parameters: DocumentSelection & Omit<Version, 'status'>): Promise<Entries<Shape>[]>
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
export type DocumentService = <Type extends Uid | AnyText | object>(uid: UidArgument<Type>, options?: DocumentOptions) => DocumentsOf<Type>

/** The uid that `documents` takes: one of the project's, or any with a type of one's own. */
export type UidArgument<Type> = Type extends string ? Type & KnownUid<Type> : string

/** The uids that may be given: those of the project if they are known; a text that is not known before it runs is always allowed. */
export type KnownUid<Type extends string> = string extends Type
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
  readonly kind: 'public' | 'token' | 'user' | 'administrator'
  /** The row id of the token, user or administrator. */
  readonly id?: number
}
