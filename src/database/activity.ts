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
  /** Times since the start that a connection was waited for in vain. */
  readonly timeouts: number
  /** Times since the start that a connection was asked for, and the seconds until there was one or none could be had; together. */
  readonly waits: number
  readonly waitedSeconds: number
}

/** Where reads are executed that may be executed on replicas. */
export interface ReplicaActivity {
  /** Reads since the start: on a replica; on the primary, because no replica was recent enough or had room; and there once more, because a replica failed meanwhile. */
  readonly reads: { readonly used: number; readonly fellBack: number; readonly repeated: number }
  /** The replicas, in the order of the settings: seconds since each was last recent enough to be used; 0: it is used. */
  readonly behind: readonly number[]
}

/** What a database is busy with at this moment. */
export interface DatabaseActivity {
  /** Empty for SQLite, which has no connections. */
  readonly pools: readonly PoolActivity[]
  /** Null: there are no replicas. */
  readonly replicas: ReplicaActivity | null
  /** Transactions that were begun again since the start: they conflicted with others, or lost their connection. */
  readonly retriedTransactions: number
  /** Bytes of SQLite's write-ahead log; null: a server has none that a client sees. */
  readonly walBytes: number | null
}
