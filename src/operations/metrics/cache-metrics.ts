// Metrics of what is kept in memory: answers to reads, and compiled plans.
import { Counter, Gauge, type Registry } from 'prom-client'
import type { CacheActivity } from '../../database/cache/response-store.js'
import type { PlanCounts } from '../../foundation/runtime/plan-counts.js'

/** Metrics of caches. */
export interface CacheMetrics {
  /** Takes over what was counted by now. `cache`: null where no answers are kept. */
  set(cache: CacheActivity | null, plans: PlanCounts): void
  /** A request was responded to with 304. */
  notModified(): void
}

/** Adds the metrics. */
export function addCacheMetrics(registry: Registry): CacheMetrics {
  const registers = [registry]
  const requests = new Counter({
    name: 'octavo_cache_requests_total',
    help: 'Reads by whether their answer was in memory, and responses without a body because the client has it',
    labelNames: ['result'],
    registers,
  })
  let notModified = 0
  const evictions = new Counter({ name: 'octavo_cache_evictions_total', help: 'Answers that made room for others', registers })
  const stale = new Counter({
    name: 'octavo_cache_stale_prevented_total',
    help: 'Answers that were in memory when they were asked for, and were read again because of a change',
    registers,
  })
  const entries = new Gauge({ name: 'octavo_cache_entries', help: 'Answers in memory', registers })
  const bytes = new Gauge({ name: 'octavo_cache_bytes', help: 'Bytes of the answers in memory', registers })
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
