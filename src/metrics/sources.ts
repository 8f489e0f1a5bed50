// What is asked for when metrics are scraped, because nobody reports it.
import type { DatabaseActivity } from '../database/activity.js'

/** What a scrape asks of a service. */
export interface MetricSources {
  activity(): DatabaseActivity
  /** The last change of the model that is in force; 0: none was made. */
  modelChange(): number
  /** Events that wait for listeners and webhooks; `oldest`: milliseconds since 1970, null if none waits. */
  backlog(): Promise<{ readonly pending: number; readonly oldest: number | null }>
}

/** What does not change while a process runs. */
export interface BuildInfo {
  readonly version: string
  /** The kind of database, as OpenTelemetry names it. */
  readonly system: 'sqlite' | 'postgresql' | 'mysql'
}
