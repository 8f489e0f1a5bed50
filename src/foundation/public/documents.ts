// The public types of the document service for scripts and other code of a project.
import type { Grants } from '../grants.js'
import type { ContentTypeShape, ShapeOf, Uid } from './content/content-types.js'
import type {
  CreateData,
  CriteriaQuery,
  FieldsArgument,
  PopulateArgument,
  ShownAttributes,
  SortArgument,
  StatusArgument,
  UpdateData,
  VersionQuery,
} from './content/queries.js'
import type { RowIn, VersionState } from './content/results.js'
import type { AnyText, NoSuchName } from './content/selection.js'

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
 * most 10,000.
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
interface DocumentOptions {
  /** Allowed actions; default: all. */
  readonly grants?: Grants
}

/**
 * Returns the documents of a type: `documents('api::article.article')`. If `octavo types` has described the project, the uid is one of its
 * types, and parameters and results have their types; `documents<Article>(uid)` gives results a type of your own.
 */
export type DocumentService = <Type extends Uid | AnyText | object>(uid: UidArgument<Type>, options?: DocumentOptions) => DocumentsOf<Type>

/** The uid of a content-type of the project, or any uid with a custom type. */
export type UidArgument<Type> = Type extends string ? Type & KnownUid<Type> : string

/** The uids that may be given: those of the project if they are known; a text that is not known before it runs is always allowed. */
export type KnownUid<Type extends string> = string extends Type
  ? unknown
  : [Uid] extends [never]
    ? unknown
    : Type extends Uid
      ? unknown
      : NoSuchName<Type, Uid>

/** The documents of a type, with its types if the project has been described. */
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

/** A condition for a document at the execution of its write. */
export interface WriteCondition {
  /** The transaction fails with `ConflictError` if the document does not match, for example because it has changed since a read. */
  readonly filters?: Readonly<Record<string, unknown>>
}

/**
 * The writes to documents of one type. Parameters and results are those of `documents(uid)`, but for one thing: where a document is not
 * there, the transaction fails with `NotFoundError`. Deleting a missing document is not a failure.
 */
export interface TransactionWrites<Shape = Document> {
  create(parameters: Version & { readonly data: Data }): PendingCreate<Shape>
  update(parameters: Identity & Version & WriteCondition & { readonly data: Data }): PendingWrite<Shape>
  delete(parameters?: Identity & WriteCondition & Omit<Version, 'status'>): PendingWrite<Entries<Shape>>
  publish(parameters?: Identity & WriteCondition & Omit<Version, 'status'>): PendingWrite<Entries<Shape>>
  unpublish(parameters?: Identity & WriteCondition & Omit<Version, 'status'>): PendingWrite<Entries<Shape>>
  discardDraft(parameters?: Identity & WriteCondition & Omit<Version, 'status'>): PendingWrite<Entries<Shape>>
}

/**
 * Describes writes to documents of a type: `write('api::article.article').create({ data })`. If `octavo types` has described the project, the
 * uid is one of its types, and data and results have their types; `write<Article>(uid)` gives results a type of your own.
 */
export type DescribeWrites = <Type extends Uid | AnyText | object>(uid: UidArgument<Type>) => WritesOf<Type>

/** The writes to a type, with its types if the project has been described. */
export type WritesOf<Type> = Type extends string
  ? Type extends Uid
    ? ShapeOf<Type> extends infer T
      ? T extends ContentTypeShape
        ? TypedTransactionWrites<T>
        : never
      : never
    : TransactionWrites
  : TransactionWrites<Type>

/** Options of a transaction. */
export interface TransactionOptions {
  /** Default: everything is allowed. */
  readonly grants?: Grants
  /**
   * Names the transaction, e.g. by the id of the message that it is about, with 1 to 255 characters. For a day it is
   * executed only once under this name, over restarts and by several processes, and resolves to its first results afterwards. Throws
   * `ApiError` 409 while it is under way, and 422 for other writes under the same name.
   */
  readonly idempotencyKey?: string
}

/**
 * Executes the writes that `describe` describes in one transaction: all or none. `describe` must not be asynchronous, because nothing is
 * executed while it runs. Afterwards all before-hooks run, then the transaction, then all after-hooks. Resolves to what `describe` returns,
 * with results in place of writes.
 *
 * Throws an `ApiError` whose message and `details.operation` name the write that failed: nothing was written then. 400 for more than
 * 10,000 writes.
 */
export type Transact = <const Given>(describe: (write: DescribeWrites) => Given, options?: TransactionOptions) => Promise<WrittenAs<Given>>

/** The versions that an operation affected; deleted versions as they were before. */
export interface Entries<Shape> {
  readonly documentId: string
  readonly entries: readonly Shape[]
}

declare const outcome: unique symbol

/** A described write. It is executed with the others of its transaction, in the same order. */
export interface PendingWrite<Result> {
  /** Its position in the transaction, from 0. Errors name it. */
  readonly index: number
  /** Never present: it only carries the type of the result. */
  readonly [outcome]: Result
}

/** A create that was described. */
export interface PendingCreate<Result> extends PendingWrite<Result> {
  /** The documentId that the document gets. Later writes of the transaction may name it, in relations too. */
  readonly documentId: string
}

/** The described value, with each write replaced by its result. */
export type WrittenAs<Given> =
  Given extends PendingWrite<infer Result>
    ? Result
    : Given extends readonly unknown[] | Readonly<Record<string, unknown>>
      ? { -readonly [Key in keyof Given]: WrittenAs<Given[Key]> }
      : Given

/** Writes to versions of a document, with results of one state. */
type VersionsMethod<T extends ContentTypeShape, State extends VersionState> = <
  const Selected extends FieldsArgument<T> = undefined,
  const Given extends PopulateArgument<T> = undefined,
>(
  parameters: VersionsOf<T, Selected, Given>,
) => Promise<Entries<RowIn<T, State, Selected, Given>>>

/** See `Documents`. Without `status`, reads return drafts and writes change the draft, where attributes are optional. */
export interface TypedDocuments<T extends ContentTypeShape> {
  findMany<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Sorted extends SortArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(parameters?: ListOf<T, Asked, Selected, Given, Sorted>): Promise<RowIn<T, StateOf<Asked>, Selected, Given>[]>
  findFirst<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Sorted extends SortArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(parameters?: CriteriaQuery<T, Asked, Selected, Given, Sorted>): Promise<RowIn<T, StateOf<Asked>, Selected, Given> | null>
  findOne<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(parameters: NamedBy<T> & VersionQuery<T, Asked, Selected, Given>): Promise<RowIn<T, StateOf<Asked>, Selected, Given> | null>
  count(
    parameters?: Pick<CriteriaQuery<T, StatusArgument, undefined, undefined, undefined>, 'filters' | 'locale' | 'status' | '_q'>,
  ): Promise<number>
  /** Creates a draft, and publishes it with `status: 'published'`. */
  create<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(
    parameters: VersionQuery<T, Asked, Selected, Given> & { readonly data: CreateData<T, StateOf<Asked>> },
  ): Promise<RowIn<T, StateOf<Asked>, Selected, Given>>
  /** Changes the draft, and publishes it with `status: 'published'`. Null if there is no such document. */
  update<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(
    parameters: NamedBy<T> & VersionQuery<T, Asked, Selected, Given> & { readonly data: UpdateData<T, StateOf<Asked>> },
  ): Promise<RowIn<T, StateOf<Asked>, Selected, Given> | null>
  /** Deletes the versions in one locale, or with `*` in all. */
  readonly delete: VersionsMethod<T, 'any'>
  /** Publishes the draft in one locale, or with `*` in all. This and the next two are only for types with Draft & Publish. */
  readonly publish: VersionsMethod<T, 'published'>
  readonly unpublish: VersionsMethod<T, 'any'>
  /** Replaces the draft by the published version. */
  readonly discardDraft: VersionsMethod<T, 'draft'>
  /** Creates a document for each entry of `data`, all of them or none; in the order of `data`. */
  createMany<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(
    parameters: VersionQuery<T, Asked, Selected, Given> & { readonly data: readonly CreateData<T, StateOf<Asked>>[] },
  ): Promise<RowIn<T, StateOf<Asked>, Selected, Given>[]>
  /** Changes several documents in the same way, all of them or none. */
  updateMany<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(
    parameters: SelectionOf<T> & VersionQuery<T, Asked, Selected, Given> & { readonly data: UpdateData<T, StateOf<Asked>> },
  ): Promise<RowIn<T, StateOf<Asked>, Selected, Given>[]>
  /** Deletes several documents, all of them or none. */
  deleteMany<const Selected extends FieldsArgument<T> = undefined, const Given extends PopulateArgument<T> = undefined>(
    parameters: SelectionOf<T> & ShownAttributes<T, Selected, Given> & { readonly locale?: string },
  ): Promise<Entries<RowIn<T, 'any', Selected, Given>>[]>
}

/** A condition for a document at the execution of its write. See `WriteCondition`. */
interface ConditionOf<T extends ContentTypeShape> {
  readonly filters?: T['filters']
}

/** The versions that a write affects, if its document fulfils a condition. */
type ConditionalVersions<T extends ContentTypeShape, Selected, Given> = VersionsOf<T, Selected, Given> & ConditionOf<T>

/** Describes a write to versions of a document, whose results are of one state. */
type VersionsWrite<T extends ContentTypeShape, State extends VersionState> = <
  const Selected extends FieldsArgument<T> = undefined,
  const Given extends PopulateArgument<T> = undefined,
>(
  parameters: ConditionalVersions<T, Selected, Given>,
) => PendingWrite<Entries<RowIn<T, State, Selected, Given>>>

/** See `TransactionWrites`. Without `status`, a draft is written, where attributes are optional. */
export interface TypedTransactionWrites<T extends ContentTypeShape> {
  /** Creates a draft, and publishes it with `status: 'published'`. */
  create<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(
    parameters: VersionQuery<T, Asked, Selected, Given> & { readonly data: CreateData<T, StateOf<Asked>> },
  ): PendingCreate<RowIn<T, StateOf<Asked>, Selected, Given>>
  /** Changes the draft, and publishes it with `status: 'published'`. */
  update<
    const Selected extends FieldsArgument<T> = undefined,
    const Given extends PopulateArgument<T> = undefined,
    const Asked extends StatusArgument = undefined,
  >(
    parameters: NamedBy<T> & ConditionOf<T> & VersionQuery<T, Asked, Selected, Given> & { readonly data: UpdateData<T, StateOf<Asked>> },
  ): PendingWrite<RowIn<T, StateOf<Asked>, Selected, Given>>
  /** Deletes the versions in one locale, or with `*` in all. */
  readonly delete: VersionsWrite<T, 'any'>
  /** Publishes the draft in one locale, or with `*` in all. This and the next two are only for types with Draft & Publish. */
  readonly publish: VersionsWrite<T, 'published'>
  readonly unpublish: VersionsWrite<T, 'any'>
  /** Replaces the draft by the published version. */
  readonly discardDraft: VersionsWrite<T, 'draft'>
}

/** Scripts and hooks read drafts unless they say otherwise. */
type StateOf<Asked> = [Asked] extends [undefined] ? 'draft' : Asked

/** Names a document. A single type has only one. */
type NamedBy<T extends ContentTypeShape> = T['kind'] extends 'singleType'
  ? { readonly documentId?: string }
  : { readonly documentId: string }

/** The parameters of a list: criteria, and the part of it. */
type ListOf<T extends ContentTypeShape, Asked, Selected, Given, Sorted> = CriteriaQuery<T, Asked, Selected, Given, Sorted> & {
  /** Number of documents to skip. */
  readonly start?: number
  /** Maximum number of documents; default: all. */
  readonly limit?: number
  /** The same as pages, counted from 1, or as offsets. */
  readonly pagination?: { readonly page?: number; readonly pageSize?: number } | { readonly start?: number; readonly limit?: number }
}

/** Names the versions in one locale, or with `*` in all. */
type VersionsOf<T extends ContentTypeShape, Selected, Given> = NamedBy<T> &
  ShownAttributes<T, Selected, Given> & { readonly locale?: string }

/** Several documents: these, or those that match filters. See `DocumentSelection`. */
type SelectionOf<T extends ContentTypeShape> =
  | { readonly documentIds: readonly string[]; readonly filters?: never }
  | { readonly documentIds?: never; readonly filters: T['filters'] }
