// Adds measurements to parts of a service. Without a management port, the parts are unchanged.
import type { Library } from '../../content/media/library.js'
import type { Received } from '../../content/media/receive.js'
import type { CommitWatch } from '../../database/cache/table-changes.js'
import type { Database, MainConnection, ReadDatabase, ServerRole, WriteDatabase } from '../../database/database.js'
import { databaseErrorClass } from '../../database/errors.js'
import { type ReadPlan, statementsOf } from '../../database/plan.js'
import { ApiError, isUniqueConflict } from '../../foundation/errors/errors.js'
import type { DatabaseOperation, DatabasePurpose, MeasuredResult, Metrics } from '../../foundation/runtime/metrics.js'
import type { Limiter } from '../../identity/access/rate-limit.js'

export interface Measuring {
  /** Null: nothing is measured. */
  readonly metrics: Metrics | null
  /** `purpose`: that of small statements and transactions; by default, documents and other. */
  database(database: Database, purpose?: DatabasePurpose): Database
  limiter(limiter: Limiter): Limiter
  library(library: Library): Library
}

export const notMeasuring: Measuring = {
  metrics: null,
  database: (database) => database,
  limiter: (limiter) => limiter,
  library: (library) => library,
}

/** Measures a database. `purpose`: that of small statements and transactions; null: documents and other. */
export function measuredDatabase(database: Database, metrics: Metrics, purpose: DatabasePurpose | null): Database {
  return {
    ...database,
    reads: measuredReads(database.reads, metrics),
    writes: measuredWrites(database.writes, metrics, purpose ?? 'write'),
    main: measuredMain(database.main, metrics, purpose ?? 'other'),
    commits: database.commits === null ? null : measuredCommits(database.commits, metrics),
  }
}

/** A read executed by several servers counts for the last one. */
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

/** Synchronous checks are not measured: they take no time. */
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

/** Measures the duration of an operation, successful or not. `roleOf`: the server that executed it, once known. */
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

export function measuredLibrary(library: Library, metrics: Metrics): Library {
  const counted = async <Result>(files: readonly Received[], store: () => Promise<Result>): Promise<Result> => {
    try {
      const result = await store()
      metrics.filesStored(
        files.length,
        files.reduce((sum, { bytes }) => sum + bytes, 0),
      )
      return result
    } catch (error) {
      metrics.filesNotStored(files.length, resultOf(error))
      throw error
    }
  }
  return {
    ...library,
    add: (files, infos, link, scope) => counted(files, () => library.add(files, infos, link, scope)),
    replace: (id, file, info, scope) => counted([file], () => library.replace(id, file, info, scope)),
  }
}

const resultOf = (error: unknown): Exclude<MeasuredResult, 'success'> =>
  error instanceof ApiError && error.status < 500 ? 'refused' : 'failed'

const isLimit = (error: unknown): boolean => error instanceof ApiError && error.name === 'RateLimitError'

export function measuredLimiter(limiter: Limiter, metrics: Metrics): Limiter {
  /** Refusals by an account's limit, which pass through the limit of the address. */
  const ofAccounts = new WeakSet<object>()
  async function measured<Result>(route: string, attempt: () => Promise<Result>): Promise<Result> {
    try {
      const result = await attempt()
      metrics.signInAttempt(route, 'success')
      return result
    } catch (error) {
      metrics.signInAttempt(route, resultOf(error))
      if (isLimit(error) && !ofAccounts.has(error as object)) metrics.rateLimited('address')
      throw error
    }
  }

  return {
    perAddress: (route, address, counted, work) => measured(route, () => limiter.perAddress(route, address, counted, work)),
    perIdentity: (attempt, identify, work) => measured(attempt.route, () => limiter.perIdentity(attempt, identify, work)),
    perAccount: async (account, work, address) => {
      try {
        return await limiter.perAccount(account, work, address)
      } catch (error) {
        if (isLimit(error)) {
          ofAccounts.add(error as object)
          metrics.rateLimited('account')
        }
        throw error
      }
    },
  }
}
