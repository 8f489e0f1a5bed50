// The reads of a service on a server.
import type { PoolActivity } from '../activity.js'
import type { ReadDatabase } from '../database.js'

/** Reads, with the connections that they have. */
export interface ServerReads extends ReadDatabase {
  activity(): PoolActivity
}
