// The SQLite driver.
import { existsSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import type { Config } from '../../foundation/config/config.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import type { Model } from '../../model/schema/types.js'
import { quoted } from '../../model/tables/table.js'
import type { FillDatabase } from '../database.js'
import type { Driver } from '../driver.js'
import { startTimeoutMs } from '../limits.js'
import type { FileSnapshot, RowCondition, RowReplacement, RowTable } from '../transfer/rows.js'
import { openSqliteReader } from './connection.js'
import { classifyError } from './errors.js'
import { createSqliteIndexes, lockSqlite, openSqliteDatabase, openSqliteForCommand, openSqliteSnapshot, openSqliteView } from './open.js'
import { openProjectFile, refuseEmptiedDatabase, refuseLostDatabase } from './project-file.js'
import { coercionTo, insertRows, jsonList, reading, selectedBy, sqliteSource, updateRows } from './rows.js'
import { openSqliteUninstallation } from './uninstall.js'

export const sqliteDriver: Driver = {
  exists: ({ database }) => existsSync(database.filename),
  getName: ({ database }) => database.filename,
  refuseLost: refuseLostDatabase,
  refuseEmptied: refuseEmptiedDatabase,
  classifyError,
  open: openSqliteDatabase,
  openForCommand: openSqliteForCommand,
  openView: async (config) => openSqliteView(config),
  openSnapshot: async (config) => openSqliteSnapshot(config),
  rows: async (config, _model, beforeSnapshot) => sqliteFileSnapshot(config, beforeSnapshot).rows,
  fileSnapshot: async (config, beforeSnapshot) => sqliteFileSnapshot(config, beforeSnapshot),
  replacement: sqliteReplacement,
  uninstall: async (config, actions) => openSqliteUninstallation(config, actions),
  createMissingIndexes: async (config, model, report) => createSqliteIndexes(config, model, report),
  lock: async (config, wait) => lockSqlite(config, wait),
}

/** Pages copied before yielding to the event loop. */
const copiedPages = 2_000

/** Opens a snapshot while services write. Copying inside a transaction does not restart when others write. */
function sqliteFileSnapshot({ database: settings }: Config, beforeSnapshot = (): void => {}): FileSnapshot {
  const connection = openSqliteReader(settings)
  try {
    beforeSnapshot()
    connection.exec('begin')
    // A deferred transaction takes its snapshot on the first read.
    connection.prepare('select count(*) from sqlite_schema').get()
  } catch (error) {
    connection.close()
    throw error
  }
  return {
    rows: sqliteSource(connection, settings.filename, () => void connection.close()),
    copyTo: async (file, report) => {
      const progress = ({ totalPages, remainingPages }: { readonly totalPages: number; readonly remainingPages: number }): number => {
        report(totalPages - remainingPages, totalPages)
        return copiedPages
      }
      await connection.backup(file, { progress })
    },
  }
}

/** Opens the database for replacing rows, prepared as for a service. */
async function sqliteReplacement(config: Config, model: Model, fill: FillDatabase): Promise<RowReplacement> {
  const connection = await openProjectFile(config, model, { info: () => {}, warn: () => {} }, fill)
  return {
    ...reading(connection, config.database.filename),
    coercion: coercionTo,
    begin: async () => begin(connection),
    remove: async (table, where) => remove(connection, table, where),
    insert: async (table, rows) => insertRows(connection, table, rows),
    update: async (table, rows) => updateRows(connection, table, rows),
    commit: async () => {
      if (hasStatistics(connection)) connection.exec(`pragma analysis_limit = ${analyzedRows}; analyze`)
      connection.exec('commit')
    },
    rollback: async () => {
      if (connection.inTransaction) connection.exec('rollback')
    },
    close: async () => void connection.close(),
  }
}

/** Maximum index rows sampled by `analyze`. */
const analyzedRows = 1000

const hasStatistics = (connection: Database): boolean =>
  connection.prepare("select 1 from sqlite_schema where name = 'sqlite_stat1'").get() !== undefined

function begin(connection: Database): void {
  connection.pragma(`busy_timeout = ${startTimeoutMs}`)
  try {
    connection.exec('begin immediate')
  } catch (error) {
    if (!String((error as { readonly code?: unknown }).code).startsWith('SQLITE_BUSY')) throw error
    throw new ConfigError(`Another process has been writing to the database for ${startTimeoutMs / 1000} seconds. Try again later`)
  }
}

function remove(connection: Database, { name }: RowTable, where: RowCondition): number {
  const columns = Object.keys(where)
  const condition = columns.length === 0 ? '' : ` where ${selectedBy(columns)}`
  return connection.prepare(`delete from ${quoted(name)}${condition}`).run(...columns.map((column) => jsonList(where[column]!))).changes
}
