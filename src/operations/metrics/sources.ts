// What is asked for when metrics are scraped, because nobody reports it.

import type { CacheActivity } from '../../database/cache/response-store.js'
import type { Database, DatabaseActivity } from '../../database/database.js'
import type { PlanCounts } from '../../foundation/runtime/plan-counts.js'

/** What a scrape asks of a service. */
export interface MetricSources {
  activity(): DatabaseActivity
  /** What the cache of answers does; null: there is none. */
  cache(): CacheActivity | null
  plans(): PlanCounts
  /** Where the database and the model in force contradict each other. */
  drift(): ReturnType<Database['mismatches']>
  /** Resolves once the changes are followed that other processes have made. Rejects where they cannot be. */
  followed(): Promise<unknown>
  /** The last change of the model that is in force; 0: none was made. */
  modelChange(): number
  /** Seconds that loading the schemas in force took. */
  modelLoadSeconds(): number
  /** Events that wait for listeners and webhooks; `oldest`: milliseconds since 1970, null if none waits. */
  backlog(): Promise<{ readonly pending: number; readonly oldest: number | null }>
}

/** What does not change while a process runs. */
export interface BuildInfo {
  readonly version: string
  /** The kind of database, as OpenTelemetry names it. */
  readonly system: 'sqlite' | 'postgresql' | 'mysql'
}
