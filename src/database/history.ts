// What a transaction knows of all that was written since an earlier one of this service: what was known of a document then may still hold.

/** A state of the database as a transaction left it. Only the driver that made it looks into `mark`. */
export interface Moment {
  /** What `Dialect.stateSeen` selected in that transaction. */
  readonly seen: string | number
  readonly mark: unknown
}

/**
 * What a transaction knows of the writes of others. Every transaction of this service may have written to any document, except those that
 * declare that they have not; any other program may have, too.
 */
export interface History {
  /** False where something is known to have been written since `moment`, whatever the database says. */
  mayBeUnchanged(moment: Moment): boolean
  /** Whether nothing but declared writes lies between `moment` and this transaction, which selected `seen` by `Dialect.stateSeen`. */
  isUnchanged(moment: Moment, seen: string | number): boolean
  /** The state that this transaction leaves if it is committed; it selected `seen`. */
  moment(seen: string | number): Moment
  /** Declares that this transaction writes to no document but the one that it is about. */
  touchesOneDocument(): void
}

/** Where nobody knows what others write. */
export const unknownHistory: History = {
  mayBeUnchanged: () => false,
  isUnchanged: () => false,
  moment: (seen) => ({ seen, mark: null }),
  touchesOneDocument: () => {},
}
