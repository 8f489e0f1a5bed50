// Fixed database limits.

/** Time that a start or a command waits for another process that is preparing or writing to the database. */
export const startTimeoutMs = 60_000

/** Time that a change of the model waits for tables that are in use, mostly by reads. All later queries of these tables wait with it. */
export const maxTableWaitMs = ({ readTimeout }: { readonly readTimeout: number }): number =>
  Math.min(2_000, Math.max(1_000, Math.ceil(readTimeout / 5)))

/** Maximum number of queued writes. */
export const maxWritesInQueue = 1_000

/** Maximum number of heavy reads waiting for a thread or connection. */
export const maxHeavyReadsInQueue = 500

/** A write's response is built inside the transaction, which blocks other writes. The limit is never below the body's. */
export const maxWriteResponseBytes = (bodyBytes: number): number => Math.max(10_000_000, bodyBytes * 4)
