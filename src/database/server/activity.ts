// What a service on a server is busy with.
import type { DatabaseActivity, PoolActivity, ReplicaActivity } from '../activity.js'
import type { ServerReads } from './reads.js'
import type { ServerWrites } from './writes.js'

/** `main`: the connections for small statements. */
export const serverActivity = (
  main: PoolActivity,
  reads: ServerReads,
  writes: ServerWrites,
  replicas: ReplicaActivity | null = null,
): DatabaseActivity => ({
  replicas,
  pools: [main, reads.activity(), ...writes.activity()],
  retriedTransactions: writes.retriedTransactions(),
  walBytes: null,
})
