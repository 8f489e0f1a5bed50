// Fixed bounds of databases.

/** Time for a start or a command to wait while another process prepares the database or writes to it. */
export const startTimeoutMs = 60_000

/** Heavy reads that may wait for a thread or connection. */
export const maxHeavyReadsInQueue = 500

/** The response to a write is built inside the transaction, so other writes wait for it. It is at least as large as its body. */
export const maxWriteResponseBytes = (bodyBytes: number): number => Math.max(10_000_000, bodyBytes * 4)
