// A database whose operations are measured, each with what it is for.
import type { Database, MainConnection, ReadDatabase, ServerRole, WriteDatabase } from '../database/database.js'
import { databaseErrorClass } from '../database/error-class.js'
import type { DatabasePurpose, Metrics } from '../runtime/metrics.js'

/** The same database, measured. `purpose`: of small statements and of transactions; null: of documents, and others. */
export function measuredDatabase(database: Database, metrics: Metrics, purpose: DatabasePurpose | null): Database {
  return {
    ...database,
    reads: measuredReads(database.reads, metrics),
    writes: measuredWrites(database.writes, metrics, purpose ?? 'write'),
    main: measuredMain(database.main, metrics, purpose ?? 'other'),
  }
}

/** A read that more than one server began to execute counts for the last of them. */
const measuredReads = (reads: ReadDatabase, metrics: Metrics): ReadDatabase => ({
  ...reads,
  execute: (known, values, isGone, since) => {
    let role: ServerRole = 'primary'
    const read = () =>
      reads.execute(known, values, isGone, since, (executing) => {
        role = executing
      })
    return timed(metrics, 'read', read, () => role)
  },
})

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

const onPrimary = (): ServerRole => 'primary'

/** Measures an operation until it has ended, however it does. `roleOf`: which server it was executed by, once it has. */
async function timed<Result>(
  metrics: Metrics,
  purpose: DatabasePurpose,
  operation: () => Promise<Result>,
  roleOf: () => ServerRole = onPrimary,
): Promise<Result> {
  const started = performance.now()
  try {
    return await operation()
  } catch (error) {
    const errorClass = databaseErrorClass(error)
    if (errorClass !== null) metrics.databaseFailed(errorClass)
    throw error
  } finally {
    metrics.databaseOperation(purpose, roleOf(), (performance.now() - started) / 1000)
  }
}
