// What the composition of a service measures. Where nothing is measured, everything is as it was made.

import type { Library } from '../../content/media/library.js'
import type { Database } from '../../database/database.js'
import type { DatabasePurpose, Metrics } from '../../foundation/runtime/metrics.js'
import type { Limiter } from '../../identity/access/rate-limit.js'

/** Measures parts of a service. */
export interface Measuring {
  /** Where rooms report what they do; null: nothing is measured. */
  readonly metrics: Metrics | null
  /** `purpose`: what its small statements and transactions are for; absent: documents, and others. */
  database(database: Database, purpose?: DatabasePurpose): Database
  limiter(limiter: Limiter): Limiter
  library(library: Library): Library
}

/** Nothing is measured. */
export const notMeasuring: Measuring = {
  metrics: null,
  database: (database) => database,
  limiter: (limiter) => limiter,
  library: (library) => library,
}
