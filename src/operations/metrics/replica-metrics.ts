// Metrics of read replicas: where reads were executed, and how far behind each replica is.
import { Counter, Gauge, type Registry } from 'prom-client'
import type { ReplicaActivity } from '../../database/database.js'

/** Adds the metrics; returns what gives them their values. */
export function addReplicaMetrics(registry: Registry): (activity: ReplicaActivity) => void {
  const reads = new Counter({
    name: 'octavo_replica_reads_total',
    help: 'Reads on a replica, on the primary because no replica was recent enough, and repeated there because a replica failed',
    labelNames: ['result'],
    registers: [registry],
  })
  const lag = new Gauge({
    name: 'octavo_replica_lag_seconds',
    aggregator: 'max',
    help: 'Seconds since a replica was last recent enough to be used; 0: it is used',
    labelNames: ['replica'],
    registers: [registry],
  })
  let before = { used: 0, fellBack: 0, repeated: 0 }
  return ({ reads: now, behind }) => {
    reads.inc({ result: 'used' }, now.used - before.used)
    reads.inc({ result: 'fell_back' }, now.fellBack - before.fellBack)
    reads.inc({ result: 'repeated' }, now.repeated - before.repeated)
    before = now
    for (const [index, seconds] of behind.entries()) lag.set({ replica: String(index) }, seconds)
  }
}
