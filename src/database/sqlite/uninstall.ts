// Removes Octavo from a SQLite database: tables, indexes, statistics, permissions, and WAL mode.
import { existsSync, rmSync } from 'node:fs'
import { basename } from 'node:path'
import Database from 'better-sqlite3'
import type { Config } from '../../foundation/config/config.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { isOctavoTable } from '../../model/tables/octavo-tables.js'
import { quoted } from '../../model/tables/table.js'
import { permissionTables, type Uninstallation } from '../driver.js'
import { markerFile } from './project-file.js'

/** Milliseconds to wait for short reads of other processes. */
const busyTimeoutMs = 2_000

/** Opens the database without changing anything before `remove`. */
export function openSqliteUninstallation({ database: { filename } }: Config, actions: readonly string[]): Uninstallation {
  const database = new Database(filename, { fileMustExist: true, timeout: busyTimeoutMs })
  database.pragma('foreign_keys = ON')
  const namesOf = (type: 'table' | 'index'): readonly string[] =>
    database.prepare('select name from sqlite_schema where type = ? order by name').pluck().all(type) as string[]
  const tables = (): readonly string[] => namesOf('table').filter(isOctavoTable)
  const statistics = (): readonly string[] => namesOf('table').filter((name) => /^sqlite_stat\d$/.test(name))
  const indexes = (): readonly string[] =>
    database
      .prepare(
        "select name from sqlite_schema where type = 'index' and name like 'octavo\\_%' escape '\\' and tbl_name not like 'octavo\\_%' escape '\\' order by name",
      )
      .pluck()
      .all() as string[]
  const isLogged = (): boolean => database.pragma('journal_mode', { simple: true }) === 'wal'
  const present = permissionTables.filter((name) => namesOf('table').includes(name))
  const listed = JSON.stringify(actions)

  return {
    find: async () => ({
      tables: new Map(
        tables().map((name) => [
          name,
          Number(
            database
              .prepare(`select count(*) from ${quoted(name)}`)
              .pluck()
              .get(),
          ),
        ]),
      ),
      indexes: indexes(),
      permissions: present.reduce((sum, table) => sum + Number(database.prepare(countPermissions(table)).pluck().get(listed)), 0),
      others: [
        ...(statistics().length > 0 ? ['the statistics of the indexes'] : []),
        ...(existsSync(markerFile(filename)) ? [`the file ${basename(markerFile(filename))}`] : []),
        ...(isLogged() ? ['the write-ahead log: the journal mode becomes DELETE again'] : []),
      ],
    }),
    remove: async (report) => {
      leaveWalMode(database, filename)
      const remove = () => {
        for (const name of indexes()) {
          report(name)
          database.exec(`drop index ${quoted(name)}`)
        }
        for (const name of [...tables(), ...statistics()]) {
          report(name)
          database.exec(`drop table ${quoted(name)}`)
        }
        for (const table of present) database.prepare(`delete from ${table} where action in (select value from json_each(?))`).run(listed)
      }
      database.transaction(remove).exclusive()
      rmSync(markerFile(filename), { force: true })
    },
    close: async () => void database.close(),
  }
}

const countPermissions = (table: string): string => `select count(*) from ${table} where action in (select value from json_each(?))`

/** Switches back from WAL mode, which requires exclusive access. @throws ConfigError if another connection is open */
function leaveWalMode(database: Database.Database, filename: string): void {
  try {
    database.pragma('journal_mode = DELETE')
  } catch (error) {
    if (!String((error as { readonly code?: unknown }).code).startsWith('SQLITE_BUSY')) throw error
    throw new ConfigError(
      `Another process has ${filename} open. Stop Octavo, Strapi and all other programs that use it. Nothing was changed`,
    )
  }
}
