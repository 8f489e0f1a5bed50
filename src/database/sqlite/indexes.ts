// Creates Octavo's indexes on SQLite, and the statistics that make its planner use them.
import type Database from 'better-sqlite3'
import type { OwnIndex, ReportOwnIndex } from '../../model/tables/own-indexes.js'
import { quoted } from '../../model/tables/table.js'
import { blockFor } from './connection.js'

/** The statement that creates an index. Every index implicitly ends with the row id. */
export function indexStatement({ name, table, columns, where, descending }: OwnIndex): string {
  const rows = where === null ? '' : ` where ${where}`
  const order = `${columns.map(quoted).join(', ')}${descending ? ' desc' : ''}`
  return `create index if not exists ${quoted(name)} on ${quoted(table)} (${order})${rows}`
}

/** Maximum index rows sampled by `analyze`. */
const analyzedRows = 1000

/** Milliseconds of index creation, followed by a pause of the same length in which others can write and reload the schema. */
const atOnce = 25

/**
 * Creates missing indexes, reporting each before it starts, then the statistics without which SQLite chooses the wrong index. Small indexes
 * share a transaction, hence a schema change. Returns the number of created indexes.
 */
export function createIndexes(database: Database.Database, indexes: readonly OwnIndex[], report: ReportOwnIndex): number {
  const present = new Set(database.prepare("select name from sqlite_schema where type = 'index'").pluck().all())
  const missing = indexes.filter(({ name }) => !present.has(name))
  for (let done = 0; done < missing.length; ) {
    if (done > 0) blockFor(atOnce)
    done = createSome(database, missing, done, report)
  }
  if (missing.length > 0 || statisticsLack(database, indexes)) analyze(database)
  return missing.length
}

/** Creates indexes in one transaction, from `first` on, until `atOnce` has passed. Returns the position of the next missing one. */
function createSome(database: Database.Database, missing: readonly OwnIndex[], first: number, report: ReportOwnIndex): number {
  const end = performance.now() + atOnce
  let done = first
  const create = () => {
    do {
      const index = missing[done]!
      report(index, done, missing.length)
      database.exec(indexStatement(index))
      done++
    } while (done < missing.length && performance.now() < end)
  }
  database.transaction(create).immediate()
  return done
}

/** True if a table was never analyzed or has grown tenfold since. Flag 1 makes this a dry run, flag 16 includes all tables. */
function statisticsLack(database: Database.Database, indexes: readonly OwnIndex[]): boolean {
  const lacking = database.pragma('optimize = 0x10003') as readonly { readonly optimize: string }[]
  const tables = new Set(lacking.map(({ optimize }) => optimize))
  return indexes.some(({ table }) => tables.has(`ANALYZE "main".${quoted(table)}`))
}

/** Recreates the statistics table: as a schema change, this makes open connections reload the statistics. */
function analyze(database: Database.Database): void {
  database.pragma(`analysis_limit = ${analyzedRows}`)
  database.transaction(() => database.exec('drop table if exists sqlite_stat1; analyze')).immediate()
}
