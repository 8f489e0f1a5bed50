// The public types of transactions: several writes to documents of any types that are done all or not at all.
import type { Grants } from '../grants.js'
import type { Data, Document, Entries, Identity, Version } from './documents.js'

declare const outcome: unique symbol

/** A write that was described. It is executed with all others of its transaction, in the order in which they were described. */
export interface PendingWrite<Result> {
  /** Its position in the transaction, from 0. Errors name it. */
  readonly index: number
  /** Never there: it only carries the type of the result. */
  readonly [outcome]?: Result
}

/** A create that was described. */
export interface PendingCreate<Result> extends PendingWrite<Result> {
  /** The documentId that the document gets. Later writes of the transaction may name it, in relations too. */
  readonly documentId: string
}

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

/** Describes writes to documents of a type: `write('api::article.article').create({ data })`. */
export type DescribeWrites = <Shape = Document>(uid: string) => TransactionWrites<Shape>

/** What was described, with the result of each write in its place. */
export type WrittenAs<Given> =
  Given extends PendingWrite<infer Result>
    ? Result
    : Given extends readonly unknown[] | Readonly<Record<string, unknown>>
      ? { -readonly [Key in keyof Given]: WrittenAs<Given[Key]> }
      : Given

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
