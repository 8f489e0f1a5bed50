// The driver of MySQL and MariaDB.

import type { Config } from '../../../foundation/config/config.js'
import { ConfigError } from '../../../foundation/errors/errors.js'
import type { Model } from '../../../model/schema/types.js'
import { quoted } from '../../../model/tables/table.js'
import type { DatabaseLock, DatabaseView, FillDatabase } from '../../database.js'
import type { Driver, WriteFirstRows } from '../../driver.js'
import { startTimeoutMs } from '../../limits.js'
import type { RowCondition, RowReplacement, RowSource, RowTable } from '../../transfer/rows.js'
import { connectToServer, createMainConnection, formatServer, type MysqlLend, type MysqlServerConnection } from './availability.js'
import { beginSnapshot, findSchemaMismatches, inspectMysql, readDeclaredColumns, takeLock } from './catalog.js'
import type { Client, MysqlQueryable } from './client.js'
import { coercionTo } from './coerce-values.js'
import { isConflict } from './errors.js'
import { createIndexes } from './indexes.js'
import { openMysqlDatabase, openMysqlForCommand } from './open.js'
import { onClient, type Pool } from './pool.js'
import { isUnprepared, prepareDatabase } from './prepare-database.js'
import { insertRows, mysqlSource, reading, selectedBy, updateRows } from './rows.js'
import { openMysqlUninstallation } from './uninstall.js'

/** `firstRows`: what fills a new database with the first content of a model. */
export const mysqlDriver = (firstRows: (locale: string, model: Model, fill: FillDatabase) => WriteFirstRows): Driver => ({
  exists: () => true,
  getName: ({ database }) => formatServer(database.server!),
  // A server's database is there or cannot be reached.
  refuseLost: () => {},
  refuseEmptied: () => {},
  classifyError: () => null,
  open: (config, model, host) => openMysqlDatabase(config, model, host, firstRows(config.initialLocale, model, host.fill)),
  openForCommand: (config, model, fill) => openMysqlForCommand(config, model, firstRows(config.initialLocale, model, fill)),
  openView: openMysqlView,
  openSnapshot: openMysqlSnapshot,
  rows: mysqlRows,
  fileSnapshot: null,
  replacement: (config, model, fill) => mysqlReplacement(config, model, firstRows(config.initialLocale, model, fill)),
  uninstall: openMysqlUninstallation,
  createMissingIndexes: async (config, model, report) => {
    const { small, close } = await connectToServer(config)
    try {
      return await createIndexes(small, model, ({ name }, done, missing) => report(name, done, missing))
    } finally {
      await close()
    }
  },
  lock: lockMysql,
})

/** Any free connection of a pool. */
export const poolQueryable = (pool: Pool): MysqlQueryable => ({
  query: (text, shown) => onClient(pool, (client) => client.query(text, shown)),
})

/** `connection`: for inspections; `lend`: lends a connection for reads. */
function createView(
  { statements }: MysqlServerConnection,
  connection: MysqlQueryable,
  lend: MysqlLend,
  close: () => Promise<void>,
): DatabaseView {
  return {
    ...inspectMysql(connection),
    main: createMainConnection(lend, statements),
    isEmpty: () => isUnprepared(connection),
    mismatches: (model) => findSchemaMismatches(connection, model),
    declaredColumns: () => readDeclaredColumns(connection),
    close,
  }
}

/** Opens the database for a few reads. */
export async function openMysqlView(config: Config): Promise<DatabaseView> {
  const reached = await connectToServer(config)
  return createView(reached, poolQueryable(reached.small), (work) => onClient(reached.small, work), reached.close)
}

/** Limits the time of each read: in seconds on MariaDB, in milliseconds on MySQL. */
async function limitReads(client: MysqlQueryable, longest: number): Promise<void> {
  const isLimited = await client.query(`set session max_statement_time = ${longest / 1000}`).then(
    () => true,
    () => false,
  )
  if (!isLimited) await client.query(`set session max_execution_time = ${Math.ceil(longest)}`)
}

/** Opens the database for reads that all belong to one snapshot. */
export async function openMysqlSnapshot(config: Config, longest?: number): Promise<DatabaseView> {
  const reached = await connectToServer(config)
  const client = await reached.small.acquire()
  if (longest !== undefined) await limitReads(client, longest)
  await beginSnapshot(client)
  return createView(
    reached,
    client,
    (work) => work(client),
    async () => {
      reached.small.release(client, true)
      await reached.close()
    },
  )
}

/** Takes the lock. `wait`: milliseconds at most. */
export async function lockMysql(config: Config, wait: number): Promise<DatabaseLock> {
  const { small, close } = await connectToServer(config)
  const client = await small.acquire()
  const release = async () => {
    small.release(client, true)
    await close()
  }
  try {
    if (!(await takeLock(client, 'start', wait))) throw new Error('Another process holds the lock')
  } catch (error) {
    await release()
    throw error
  }
  return {
    countTokens: async () => {
      if (await isUnprepared(client)) return 0
      const { rows } = await client.query('select count(*) from strapi_api_tokens')
      return rows[0]![0] as number
    },
    release,
  }
}

/** Opens a dedicated connection. A failure closes it. */
async function openClient<Result>(
  reached: MysqlServerConnection,
  open: (client: Client, close: () => Promise<void>) => Promise<Result>,
): Promise<Result> {
  try {
    const client = await reached.small.acquire()
    return await open(client, async () => {
      reached.small.release(client, true)
      await reached.close()
    })
  } catch (error) {
    await reached.close()
    throw error
  }
}

/** Opens the database for reads that all belong to one snapshot, also while a service writes. */
export async function mysqlRows(config: Config, _model?: Model, beforeSnapshot = (): void => {}): Promise<RowSource> {
  const reached = await connectToServer(config)
  return openClient(reached, (client, close) => {
    beforeSnapshot()
    return mysqlSource(client, formatServer(reached.settings), close)
  })
}

/** Opens the database to replace rows; it is prepared as for a service. */
export async function mysqlReplacement(config: Config, model: Model, fill: WriteFirstRows): Promise<RowReplacement> {
  const reached = await connectToServer(config)
  return openClient(reached, async (client, close) => {
    await prepareDatabase(reached.small, model, { wait: startTimeoutMs, sessions: config.auth.jwtManagement === 'refresh', fill })
    return {
      ...reading(client, formatServer(reached.settings)),
      coercion: coercionTo,
      begin: async () => {
        // A transaction that reads nothing before it removes all rows of a table holds the table from then on.
        await client.query(`set session innodb_lock_wait_timeout = ${startTimeoutMs / 1000}`)
        await client.query('start transaction')
      },
      remove: (table, where) => explained(remove(client, table, where), startTimeoutMs),
      insert: (table, rows) => explained(insertRows(client, table, rows), startTimeoutMs),
      update: (table, rows) => explained(updateRows(client, table, rows), startTimeoutMs),
      commit: async () => void (await client.query('commit')),
      rollback: async () => void (await client.query('rollback')),
      close,
    }
  })
}

async function remove(client: Client, table: RowTable, where: RowCondition): Promise<number> {
  const conditions = Object.values(where)
  if (conditions.some((values) => values.length === 0)) return 0
  const condition = conditions.length === 0 ? '' : ` where ${selectedBy(table, where)}`
  const text = `delete from ${quoted(table.name)}`
  return (await client.query(`${text}${condition}`, text)).changed
}

async function explained<Result>(work: Promise<Result>, wait: number): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (!isConflict(error)) throw error
    throw new ConfigError(
      `Other writes were in the way for ${Math.round(wait / 1000)} seconds (${(error as Error).message}), and nothing was changed. Try again later`,
    )
  }
}
