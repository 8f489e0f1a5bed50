// The public types of transactions: several writes to documents of any types that are done all or not at all.
import type { Grants } from '../grants.js'
import type { ContentTypeShape, ShapeOf, Uid } from './content/content-types.js'
import type { AnyText } from './content/selection.js'
import type { TypedTransactionWrites } from './content/typed-transactions.js'
import type { Data, Document, Identity, UidArgument, Version } from './documents.js'
import type { Entries, PendingCreate, PendingWrite, WrittenAs } from './write-results.js'

/** What has to hold for a document when its write is executed. */
export interface WriteCondition {
  /** The transaction fails with `ConflictError` if the document does not match: what was read before may have changed. */
  readonly filters?: Readonly<Record<string, unknown>>
}

/**
 * The writes to documents of one type. Parameters and results are those of `documents(uid)`, but for one thing: where a document is not
 * there, the transaction fails with `NotFoundError`. A delete of what is not there is no failure.
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

/** The writes to a type, typed as far as the project is known. */
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
   * Names the transaction, e.g. by the id of the message that it is about, with 1 to 255 characters. For a day (`limits.idempotencyTime`) it is
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
 * `limits.transactionOperations` writes.
 */
export type Transact = <const Given>(describe: (write: DescribeWrites) => Given, options?: TransactionOptions) => Promise<WrittenAs<Given>>
