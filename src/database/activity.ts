// What a database is busy with, for those who watch the service.

/** The connections of a pool to a server. */
export interface PoolActivity {
  readonly name: 'main' | 'read' | 'write' | 'write_in_turn'
  readonly idle: number
  readonly used: number
  /** Connections at most. */
  readonly most: number
  /** Statements or transactions that wait for a connection. */
  readonly waiting: number
}

/** What a database is busy with at this moment. */
export interface DatabaseActivity {
  /** Empty for SQLite, which has no connections. */
  readonly pools: readonly PoolActivity[]
  /** Transactions that were begun again since the start: they conflicted with others, or lost their connection. */
  readonly retriedTransactions: number
  /** Bytes of SQLite's write-ahead log; null: a server has none that a client sees. */
  readonly walBytes: number | null
}
