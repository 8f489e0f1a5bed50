// Creates Octavo's indexes on SQLite, with the statistics that make SQLite choose them.
import type Database from 'better-sqlite3'
import type { OwnIndex, ReportOwnIndex } from '../../model/tables/own-indexes.js'
import { quoted } from '../../model/tables/table.js'
import { blockFor } from './connection.js'

/** The statement that creates an index. The row id ends every index by itself: it needs no column. */
export function indexStatement({ name, table, columns, where, descending }: OwnIndex): string {
  const rows = where === null ? '' : ` where ${where}`
  const order = `${columns.map(quoted).join(', ')}${descending ? ' desc' : ''}`
  return `create index if not exists ${quoted(name)} on ${quoted(table)} (${order})${rows}`
}

/** Rows of an index that its statistics look at. */
const analyzedRows = 1000

/** Milliseconds of making indexes after which other connections get as many to write, and to read the schema that they now have. */
const atOnce = 25

/**
 * Makes the indexes that are missing, one after the other, and reports each before it starts; then the statistics without which
 * SQLite takes the wrong one. Several small ones are one change of the schema. Returns how many were made.
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

/** One transaction: `missing` from `first` on, until `atOnce` has passed. Returns the first that is still missing. */
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

/** True where a table was never looked at, or grew tenfold since. Bit 1 only asks, bit 16 asks about every table. */
function statisticsLack(database: Database.Database, indexes: readonly OwnIndex[]): boolean {
  const lacking = database.pragma('optimize = 0x10003') as readonly { readonly optimize: string }[]
  const tables = new Set(lacking.map(({ optimize }) => optimize))
  return indexes.some(({ table }) => tables.has(`ANALYZE "main".${quoted(table)}`))
}

/** Recreates the table of statistics: this changes the schema, so that open connections read it before their next statement. */
function analyze(database: Database.Database): void {
  database.pragma(`analysis_limit = ${analyzedRows}`)
  database.transaction(() => database.exec('drop table if exists sqlite_stat1; analyze')).immediate()
}
