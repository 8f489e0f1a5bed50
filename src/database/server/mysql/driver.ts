// The driver of MySQL and MariaDB.

import type { Config } from '../../../foundation/config/config.js'
import { ConfigError } from '../../../foundation/errors/errors.js'
import type { Model } from '../../../model/schema/types.js'
import { quoted } from '../../../model/tables/table.js'
import type { DatabaseLock, DatabaseView, FillDatabase } from '../../database.js'
import type { Driver, FillRows } from '../../driver.js'
import type { RowCondition, RowReplacement, RowSource, RowTable } from '../../transfer/rows.js'
import { type MysqlLend, type MysqlReached, openMainConnection, placeOf, reach } from './availability.js'
import { beginSnapshot, declaredColumnsOf, findSchemaMismatches, inspectMysql, takeLock } from './catalog.js'
import type { Client, MysqlQueryable } from './client.js'
import { fitterFor } from './coerce-values.js'
import { isConflict } from './errors.js'
import { createIndexes } from './indexes.js'
import { openMysqlDatabase, openMysqlForCommand } from './open.js'
import { onClient, type Pool } from './pool.js'
import { isUnprepared, prepareDatabase } from './prepare-database.js'
import { insertRows, mysqlSource, reading, selectedBy, updateRows } from './rows.js'
import { leavingMysql } from './uninstall.js'

/** `firstRows`: what fills a new database with the first content of a model. */
export const mysqlDriver = (firstRows: (locale: string, model: Model, fill: FillDatabase) => FillRows): Driver => ({
  exists: () => true,
  nameOf: ({ database }) => placeOf(database.server!),
  // A server's database is there or cannot be reached.
  refuseLost: () => {},
  refuseEmptied: () => {},
  faultOf: () => null,
  open: (config, model, host) => openMysqlDatabase(config, model, host, firstRows(config.initialLocale, model, host.fill)),
  openForCommand: (config, model, fill) => openMysqlForCommand(config, model, firstRows(config.initialLocale, model, fill)),
  lookInto: lookIntoMysql,
  snapshotOf: snapshotOfMysql,
  rows: mysqlRows,
  fileSnapshot: null,
  replacement: (config, model, fill) => mysqlReplacement(config, model, firstRows(config.initialLocale, model, fill)),
  leaving: leavingMysql,
  createMissingIndexes: async (config, model, report) => {
    const { small, close } = await reach(config)
    try {
      return await createIndexes(small, model, ({ name }, done, missing) => report(name, done, missing))
    } finally {
      await close()
    }
  },
  lock: lockMysql,
})

/** Whichever connection of a pool is free. */
export const anyOf = (pool: Pool): MysqlQueryable => ({ query: (text, shown) => onClient(pool, (client) => client.query(text, shown)) })

/** `connection`: what tells of the database; `lend`: lends what reads it. */
function viewOf({ statements }: MysqlReached, connection: MysqlQueryable, lend: MysqlLend, close: () => Promise<void>): DatabaseView {
  return {
    ...inspectMysql(connection),
    main: openMainConnection(lend, statements),
    isEmpty: () => isUnprepared(connection),
    mismatches: (model) => findSchemaMismatches(connection, model),
    declaredColumns: () => declaredColumnsOf(connection),
    close,
  }
}

/** Opens the database for a few reads. */
export async function lookIntoMysql(config: Config): Promise<DatabaseView> {
  const reached = await reach(config)
  return viewOf(reached, anyOf(reached.small), (work) => onClient(reached.small, work), reached.close)
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
export async function snapshotOfMysql(config: Config, longest?: number): Promise<DatabaseView> {
  const reached = await reach(config)
  const client = await reached.small.acquire()
  if (longest !== undefined) await limitReads(client, longest)
  await beginSnapshot(client)
  return viewOf(
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
  const { small, close } = await reach(config)
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

/** Opens a connection of its own. What fails closes it. */
async function openClient<Result>(
  reached: MysqlReached,
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
  const reached = await reach(config)
  return openClient(reached, (client, close) => {
    beforeSnapshot()
    return mysqlSource(client, placeOf(reached.settings), close)
  })
}

/** Opens the database to replace rows; it is prepared as for a service. */
export async function mysqlReplacement(config: Config, model: Model, fill: FillRows): Promise<RowReplacement> {
  const reached = await reach(config)
  const wait = config.limits.startWait
  return openClient(reached, async (client, close) => {
    await prepareDatabase(reached.small, model, { wait, sessions: config.auth.jwtManagement === 'refresh', fill })
    return {
      ...reading(client, placeOf(reached.settings)),
      fitter: fitterFor,
      begin: async () => {
        // A transaction that reads nothing before it removes all rows of a table holds the table from then on.
        await client.query(`set session innodb_lock_wait_timeout = ${Math.ceil(wait / 1000)}`)
        await client.query('start transaction')
      },
      remove: (table, where) => explained(remove(client, table, where), wait),
      insert: (table, rows) => explained(insertRows(client, table, rows), wait),
      update: (table, rows) => explained(updateRows(client, table, rows), wait),
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
