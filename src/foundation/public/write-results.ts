// What writes of a project's code result in: affected versions, and in a transaction what stands for a result until it is executed.

/** The versions that an operation affected; deleted versions as they were before. */
export interface Entries<Shape> {
  readonly documentId: string
  readonly entries: readonly Shape[]
}

declare const outcome: unique symbol

/** A write that was described. It is executed with all others of its transaction, in the order in which they were described. */
export interface PendingWrite<Result> {
  /** Its position in the transaction, from 0. Errors name it. */
  readonly index: number
  /** Nobody can read it: it only carries the type of the result. */
  readonly [outcome]: Result
}

/** A create that was described. */
export interface PendingCreate<Result> extends PendingWrite<Result> {
  /** The documentId that the document gets. Later writes of the transaction may name it, in relations too. */
  readonly documentId: string
}

/** What was described, with the result of each write in its place. */
export type WrittenAs<Given> =
  Given extends PendingWrite<infer Result>
    ? Result
    : Given extends readonly unknown[] | Readonly<Record<string, unknown>>
      ? { -readonly [Key in keyof Given]: WrittenAs<Given[Key]> }
      : Given
