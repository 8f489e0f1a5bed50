// A database whose operations are measured, each with what it is for.
import type { Database, MainConnection, WriteDatabase } from '../database/database.js'
import { databaseErrorClass } from '../database/error-class.js'
import type { DatabasePurpose, Metrics } from '../runtime/metrics.js'

/** The same database, measured. `purpose`: of small statements and of transactions; null: of documents, and others. */
export function measuredDatabase(database: Database, metrics: Metrics, purpose: DatabasePurpose | null): Database {
  const { reads } = database
  return {
    ...database,
    reads: { ...reads, execute: (...asked) => timed(metrics, 'read', () => reads.execute(...asked)) },
    writes: measuredWrites(database.writes, metrics, purpose ?? 'write'),
    main: measuredMain(database.main, metrics, purpose ?? 'other'),
  }
}

const measuredWrites = (writes: WriteDatabase, metrics: Metrics, purpose: DatabasePurpose): WriteDatabase => ({
  ...writes,
  transaction: (work, change) => timed(metrics, purpose, () => writes.transaction(work, change)),
  run: (query) => timed(metrics, purpose, () => writes.run(query)),
})

const measuredMain = (main: MainConnection, metrics: Metrics, purpose: DatabasePurpose): MainConnection => ({
  ...main,
  changed: main.isRemote ? () => timed(metrics, 'version', main.changed) : main.changed,
  rows: (query) => timed(metrics, purpose, () => main.rows(query)),
})

/** Measures an operation until it has ended, however it does. */
function timed<Result>(metrics: Metrics, purpose: DatabasePurpose, operation: () => Promise<Result>): Promise<Result> {
  const started = performance.now()
  return ending(metrics, purpose, started, operation())
}

async function ending<Result>(metrics: Metrics, purpose: DatabasePurpose, started: number, operation: Promise<Result>): Promise<Result> {
  try {
    return await operation
  } catch (error) {
    const errorClass = databaseErrorClass(error)
    if (errorClass !== null) metrics.databaseFailed(errorClass)
    throw error
  } finally {
    metrics.databaseOperation(purpose, (performance.now() - started) / 1000)
  }
}
