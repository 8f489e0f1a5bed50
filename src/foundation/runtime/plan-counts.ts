// Counts what the caches of compiled plans do, for those who watch the service.

/** Counts of all caches of plans of a service together, which they change themselves. */
export interface PlanCounts {
  /** Requests whose plan was there. */
  hits: number
  /** Requests for which a plan was compiled. */
  misses: number
  /** Plans that made room for others. */
  evictions: number
  /** Plans that are kept now. */
  entries: number
}

/** Counts of caches that have done nothing yet. */
export const newPlanCounts = (): PlanCounts => ({ hits: 0, misses: 0, evictions: 0, entries: 0 })
