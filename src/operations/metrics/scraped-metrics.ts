// Metrics that have their values from a scrape: connections, caches, the log of SQLite, the model, and events that wait.
import { Counter, Gauge, type Registry, Summary } from 'prom-client'
import type { DatabaseActivity, PoolActivity } from '../../database/database.js'
import { managementLimits } from '../../foundation/config/management.js'
import { within } from '../../foundation/runtime/clock.js'
import { addCacheMetrics, type CacheMetrics } from './cache-metrics.js'
import { addReplicaMetrics } from './replica-metrics.js'
import type { MetricSources } from './sources.js'

/**
 * What a sum over several processes on one database takes: of what all know of it the largest value, of their connections the sum.
 */
const aggregator = 'max'

/** Metrics that are updated by a scrape. */
export interface ScrapedMetrics extends Pick<CacheMetrics, 'notModified'> {
  /** Gives them their values, and waits at most so many milliseconds for the database. */
  update(sources: MetricSources, milliseconds: number): Promise<void>
}

/** Adds the metrics. */
export function addScrapedMetrics(registry: Registry): ScrapedMetrics {
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Gauge<Label>({ name, help, labelNames, aggregator, registers: [registry] })
  const setActivity = addActivity(registry)
  const caches = addCacheMetrics(registry)
  const setDrift = addDrift(registry)
  const change = gauge('octavo_schema_version', 'The number of the last change of the model that is in force; 0: none was made')
  const lowest = new Gauge({
    ...{ name: 'octavo_schema_version_min', help: 'The same; of several processes the lowest', aggregator: 'min' },
    registers: [registry],
  })
  const load = gauge('octavo_schema_load_duration_seconds', 'Seconds that loading the schemas in force took')
  const pending = gauge('octavo_outbox_pending', 'Recorded events that a listener or webhook has not received')
  const age = gauge('octavo_outbox_oldest_age_seconds', 'Seconds since the oldest of them was recorded; 0 if there is none')
  // Zeros before the first scrape of a service that is still starting would be taken for values.
  for (const one of [change, lowest, load, pending, age]) one.remove()
  /** What the database was asked and has not answered: it is not asked again meanwhile. */
  let asked: ReturnType<MetricSources['backlog']> | null = null
  const update: ScrapedMetrics['update'] = async (sources, milliseconds) => {
    const { activity, cache, plans, followed, modelChange, modelLoadSeconds, drift, backlog } = sources
    setActivity(activity())
    caches.set(cache(), plans())
    const isFollowed = within(milliseconds, followed()).catch(() => null)
    const drifted = within(milliseconds, setDrift(drift)).catch(() => null)
    asked ??= backlog().finally(() => {
      asked = null
    })
    const found = await within(milliseconds, asked).catch(() => null)
    await drifted
    await isFollowed
    change.set(modelChange())
    lowest.set(modelChange())
    load.set(modelLoadSeconds())
    if (found === null) {
      pending.remove()
      age.remove()
      return
    }
    pending.set(found.pending)
    age.set(found.oldest === null ? 0 : Math.max(0, (Date.now() - found.oldest) / 1000))
  }
  return { update, notModified: caches.notModified }
}

/** Adds the differences between database and model; returns what looks for them, at most once in a while, and keeps what it knows of where it cannot. */
function addDrift(registry: Registry): (look: MetricSources['drift']) => Promise<void> {
  const differences = new Gauge({
    name: 'octavo_schema_drift',
    aggregator,
    help: 'Differences between the database and the model in force',
    labelNames: ['kind'],
    registers: [registry],
  })
  let next = 0
  return async (look) => {
    if (performance.now() < next) return
    next = performance.now() + managementLimits.driftEvery
    const found = await look()
    for (const kind of ['types', 'columns', 'tables'] as const) differences.set({ kind }, found[kind].length)
  }
}

function addActivity(registry: Registry): (activity: DatabaseActivity) => void {
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Gauge<Label>({ name, help, labelNames, registers: [registry] })
  const count = gauge('db_client_connection_count', 'Connections to the database server', ['pool', 'state'])
  const most = gauge('db_client_connection_max', 'Connections of a pool at most', ['pool'])
  const waiting = gauge('db_client_connection_pending_requests', 'Operations that wait for a connection', ['pool'])
  const retried = new Counter({
    name: 'octavo_db_transactions_retried_total',
    help: 'Transactions that were begun again after a conflict or a loss',
    registers: [registry],
  })
  const timeouts = new Counter({
    name: 'db_client_connection_timeouts_total',
    help: 'Times that a connection was waited for in vain',
    labelNames: ['pool'],
    registers: [registry],
  })
  const waits = addWaits(registry)
  const setReplicas = addReplicaMetrics(registry)
  let retriedBefore = 0
  const wal = new Gauge({
    ...{ name: 'octavo_sqlite_wal_bytes', help: 'Bytes of the write-ahead log of SQLite', aggregator },
    registers: [registry],
  })
  return ({ pools, replicas, retriedTransactions, walBytes }) => {
    timeouts.reset()
    waits(pools)
    if (replicas !== null) setReplicas(replicas)
    for (const pool of pools) {
      count.set({ pool: pool.name, state: 'idle' }, pool.idle)
      count.set({ pool: pool.name, state: 'used' }, pool.used)
      most.set({ pool: pool.name }, pool.most)
      waiting.set({ pool: pool.name }, pool.waiting)
      timeouts.inc({ pool: pool.name }, pool.timeouts)
    }
    retried.inc(retriedTransactions - retriedBefore)
    retriedBefore = retriedTransactions
    if (walBytes === null) wal.remove()
    else wal.set(walBytes)
  }
}

/** Adds how long connections were waited for: a summary whose sums and counts the pools keep themselves. */
function addWaits(registry: Registry): (pools: readonly PoolActivity[]) => void {
  const name = 'db_client_connection_wait_time_seconds'
  const help = 'Seconds until a connection was there, or none could be had'
  const waits = new Summary({ name, help, labelNames: ['pool'], percentiles: [], registers: [registry] })
  let kept: readonly PoolActivity[] = []
  waits.get = async () => ({
    // The types of prom-client have an enumeration here that it does not export.
    ...{ name, help, type: 'summary' as never, aggregator: 'sum', collect: () => {} },
    values: kept.flatMap(({ name: pool, waits: count, waitedSeconds }) => [
      { metricName: `${name}_sum`, labels: { pool }, value: waitedSeconds },
      { metricName: `${name}_count`, labels: { pool }, value: count },
    ]),
  })
  return (pools) => {
    kept = pools
  }
}
