// A database whose operations are measured, each with what it is for.
import type { CommitWatch } from '../../database/cache/table-changes.js'
import type { Database, MainConnection, ReadDatabase, ServerRole, WriteDatabase } from '../../database/database.js'
import { databaseErrorClass } from '../../database/errors.js'
import { type ReadPlan, statementsOf } from '../../database/plan.js'
import { isUniqueConflict } from '../../foundation/errors/unique-conflict.js'
import type { DatabaseOperation, DatabasePurpose, Metrics } from '../../foundation/runtime/metrics.js'

/** The same database, measured. `purpose`: of small statements and of transactions; null: of documents, and others. */
export function measuredDatabase(database: Database, metrics: Metrics, purpose: DatabasePurpose | null): Database {
  return {
    ...database,
    reads: measuredReads(database.reads, metrics),
    writes: measuredWrites(database.writes, metrics, purpose ?? 'write'),
    main: measuredMain(database.main, metrics, purpose ?? 'other'),
    commits: database.commits === null ? null : measuredCommits(database.commits, metrics),
  }
}

/** A read that more than one server began to execute counts for the last of them. */
const measuredReads = (reads: ReadDatabase, metrics: Metrics): ReadDatabase => ({
  ...reads,
  execute: (known, values, isGone, since) => {
    metrics.planExecuted(countOf(known.plan))
    let role: ServerRole = 'primary'
    const read = () =>
      reads.execute(known, values, isGone, since, (executing) => {
        role = executing
      })
    return timed(metrics, ['SELECT', 'read'], read, () => role)
  },
})

const counts = new WeakMap<ReadPlan, number>()

/** The number of statements of a plan. */
function countOf(plan: ReadPlan): number {
  const count = counts.get(plan) ?? statementsOf(plan).length
  counts.set(plan, count)
  return count
}

const measuredWrites = (writes: WriteDatabase, metrics: Metrics, purpose: DatabasePurpose): WriteDatabase => ({
  ...writes,
  transaction: (work, change) => timed(metrics, ['transaction', purpose], () => writes.transaction(work, change)),
  run: (query) => timed(metrics, ['statement', purpose], () => writes.run(query)),
})

const measuredMain = (main: MainConnection, metrics: Metrics, purpose: DatabasePurpose): MainConnection => ({
  ...main,
  changed: main.isRemote ? () => timed(metrics, ['SELECT', 'version'], main.changed) : main.changed,
  rows: (query) => timed(metrics, ['SELECT', purpose], () => main.rows(query)),
})

/** Looks that know at once whether anything was committed take no time. */
const measuredCommits = (commits: CommitWatch, metrics: Metrics): CommitWatch => ({
  ...commits,
  look: (since) => {
    const looked = commits.look(since)
    if (typeof looked === 'boolean') return looked
    const started = performance.now()
    return looked.finally(() => metrics.cacheValidated((performance.now() - started) / 1000))
  },
})

const onPrimary = (): ServerRole => 'primary'

/** Measures an operation until it has ended, however it does. `roleOf`: which server it was executed by, once it has. */
async function timed<Result>(
  metrics: Metrics,
  [name, purpose]: readonly [DatabaseOperation, DatabasePurpose],
  operation: () => Promise<Result>,
  roleOf: () => ServerRole = onPrimary,
): Promise<Result> {
  const started = performance.now()
  try {
    return await operation()
  } catch (error) {
    const errorClass = databaseErrorClass(error)
    if (errorClass !== null) metrics.databaseFailed(errorClass)
    else if (isUniqueConflict(error)) metrics.uniqueConflict()
    throw error
  } finally {
    metrics.databaseOperation(name, purpose, roleOf(), (performance.now() - started) / 1000)
  }
}
