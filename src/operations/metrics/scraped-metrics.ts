// Metrics whose values are read on scrapes: connections, caches, the log of SQLite, the model, and pending events.

import { Counter, Gauge, type Registry, Summary } from 'prom-client'
import type { CacheActivity } from '../../database/cache/response-store.js'
import type { Database, DatabaseActivity, PoolActivity, ReplicaActivity } from '../../database/database.js'
import { managementLimits } from '../../foundation/config/network.js'
import { within } from '../../foundation/runtime/clock.js'
import type { PlanCounts } from '../../foundation/runtime/metrics.js'

interface ScrapedMetrics extends Pick<CacheMetrics, 'notModified'> {
  /** Updates the values, with a time limit for the database in milliseconds. */
  update(sources: MetricSources, milliseconds: number): Promise<void>
}

export function addScrapedMetrics(registry: Registry): ScrapedMetrics {
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Gauge<Label>({ name, help, labelNames, registers: [registry] })
  const setActivity = addActivity(registry)
  const caches = addCacheMetrics(registry)
  const setDrift = addDrift(registry)
  const change = gauge('octavo_schema_version', 'The number of the last change of the model that is in force; 0: none was made')
  const load = gauge('octavo_schema_load_duration_seconds', 'Seconds that loading the schemas in force took')
  const pending = gauge('octavo_outbox_pending', 'Recorded events that a listener or webhook has not received')
  const age = gauge('octavo_outbox_oldest_age_seconds', 'Seconds since the oldest of them was recorded; 0 if there is none')
  // Removed, because zeros before the first scrape would be taken for values.
  for (const one of [change, load, pending, age]) one.remove()
  /** The query in progress; another one is not started until it ends. */
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

/** Adds the differences between database and model. Returns their rate-limited check, which keeps the last result on failure. */
function addDrift(registry: Registry): (look: MetricSources['drift']) => Promise<void> {
  const differences = new Gauge({
    name: 'octavo_schema_drift',
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
  const wal = new Gauge({ name: 'octavo_sqlite_wal_bytes', help: 'Bytes of the write-ahead log of SQLite', registers: [registry] })
  return ({ pools, replicas, retriedTransactions, walBytes }) => {
    timeouts.reset()
    waits(pools)
    if (replicas !== null) setReplicas(replicas)
    for (const pool of pools) {
      count.set({ pool: pool.name, state: 'idle' }, pool.idle)
      count.set({ pool: pool.name, state: 'used' }, pool.used)
      most.set({ pool: pool.name }, pool.max)
      waiting.set({ pool: pool.name }, pool.waiting)
      timeouts.inc({ pool: pool.name }, pool.timeouts)
    }
    retried.inc(retriedTransactions - retriedBefore)
    retriedBefore = retriedTransactions
    if (walBytes === null) wal.remove()
    else wal.set(walBytes)
  }
}

/** Adds connection wait times: a summary whose sums and counts the pools maintain. */
function addWaits(registry: Registry): (pools: readonly PoolActivity[]) => void {
  const name = 'db_client_connection_wait_time_seconds'
  const help = 'Seconds until a connection was there, or none could be had'
  const waits = new Summary({ name, help, labelNames: ['pool'], percentiles: [], registers: [registry] })
  let kept: readonly PoolActivity[] = []
  waits.get = async () => ({
    // prom-client does not export the enumeration of this type.
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

interface CacheMetrics {
  /** Sets current counts. `cache`: null without a response cache. */
  set(cache: CacheActivity | null, plans: PlanCounts): void
  /** Counts a response 304. */
  notModified(): void
}

function addCacheMetrics(registry: Registry): CacheMetrics {
  const registers = [registry]
  const requests = new Counter({
    name: 'octavo_cache_requests_total',
    help: 'Reads by cache result, and responses without a body because the client has it',
    labelNames: ['result'],
    registers,
  })
  let notModified = 0
  const evictions = new Counter({ name: 'octavo_cache_evictions_total', help: 'Cached responses that were evicted', registers })
  const stale = new Counter({
    name: 'octavo_cache_stale_prevented_total',
    help: 'Cached responses that were read again because of a change',
    registers,
  })
  const entries = new Gauge({ name: 'octavo_cache_entries', help: 'Cached responses', registers })
  const bytes = new Gauge({ name: 'octavo_cache_bytes', help: 'Bytes of cached responses', registers })
  const ofPlans = new Counter({
    name: 'octavo_plan_cache_requests_total',
    help: 'Reads by whether their plan was compiled before',
    labelNames: ['result'],
    registers,
  })
  const planEvictions = new Counter({ name: 'octavo_plan_cache_evictions_total', help: 'Plans that made room for others', registers })
  const planEntries = new Gauge({ name: 'octavo_plan_cache_entries', help: 'Compiled plans in memory', registers })
  return {
    set: (cache, plans) => {
      requests.reset()
      requests.inc({ result: 'hit' }, cache?.hits ?? 0)
      requests.inc({ result: 'miss' }, cache?.misses ?? 0)
      requests.inc({ result: 'bypass' }, cache?.bypasses ?? 0)
      requests.inc({ result: 'not_modified' }, notModified)
      evictions.reset()
      evictions.inc(cache?.evictions ?? 0)
      stale.reset()
      stale.inc(cache?.outdated ?? 0)
      entries.set(cache?.entries ?? 0)
      bytes.set(cache?.bytes ?? 0)
      ofPlans.reset()
      ofPlans.inc({ result: 'hit' }, plans.hits)
      ofPlans.inc({ result: 'miss' }, plans.misses)
      planEvictions.reset()
      planEvictions.inc(plans.evictions)
      planEntries.set(plans.entries)
    },
    notModified: () => void notModified++,
  }
}

/** Returns the function that sets the values. */
function addReplicaMetrics(registry: Registry): (activity: ReplicaActivity) => void {
  const reads = new Counter({
    name: 'octavo_replica_reads_total',
    help: 'Reads on a replica, on the primary because no replica was recent enough, and repeated there because a replica failed',
    labelNames: ['result'],
    registers: [registry],
  })
  const lag = new Gauge({
    name: 'octavo_replica_lag_seconds',
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

/** Values of a service that scrapes read. */
export interface MetricSources {
  activity(): DatabaseActivity
  /** Null without a response cache. */
  cache(): CacheActivity | null
  plans(): PlanCounts
  /** Differences between the database and the current model. */
  drift(): ReturnType<Database['mismatches']>
  /** Resolves once the changes of other processes are loaded. Rejects if they cannot be. */
  followed(): Promise<unknown>
  /** Id of the last model change in force; 0: none. */
  modelChange(): number
  /** Seconds that loading the current schemas took. */
  modelLoadSeconds(): number
  /** Events pending for listeners and webhooks; `oldest`: milliseconds since 1970, null if there are none. */
  backlog(): Promise<{ readonly pending: number; readonly oldest: number | null }>
}

export interface BuildInfo {
  readonly version: string
  /** The kind of database, as named by OpenTelemetry. */
  readonly system: 'sqlite' | 'postgresql' | 'mysql'
  /** Adds the label `process` to every series. */
  readonly isOneOfSeveral: boolean
}
