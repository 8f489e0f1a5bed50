// The MySQL and MariaDB driver.
import { ConfigError } from '../../../foundation/errors/errors.js'
import type { Model } from '../../../model/schema/types.js'
import { quoted } from '../../../model/tables/table.js'
import { databaseNames, type FillDatabase } from '../../database.js'
import type { Driver, WriteFirstRows } from '../../driver.js'
import { maxTableWaitMs, startTimeoutMs } from '../../limits.js'
import type { RowCondition, RowReplacement, RowTable } from '../../transfer/rows.js'
import { serverDriver } from '../driver.js'
import type { ServerKind, ServiceOptions, ServiceParts } from '../kind.js'
import { zoneColumns, zoneTable } from '../time-zone.js'
import { applyMysqlChange, checkMysqlSteps } from './apply-change.js'
import { connectToServer, createMainConnection, type MysqlServerConnection } from './availability.js'
import { beginSnapshot, findSchemaMismatches, inspectMysql, readDeclaredColumns, takeLock } from './catalog.js'
import { describeMysqlStep } from './change-statements.js'
import type { Client } from './client.js'
import { coercionTo, spans } from './coerce-values.js'
import { octavoTable } from './create-tables.js'
import { isConflict, isLockWait } from './errors.js'
import { createIndexes } from './indexes.js'
import { onClient, openPool, type Pool } from './pool.js'
import { isUnprepared, prepareDatabase } from './prepare-database.js'
import { openReads } from './reads.js'
import { insertRows, mysqlSource, mysqlTarget, reading, selectedBy, updateRows } from './rows.js'
import { openWrites } from './writes.js'

/** Sets the timeout of reads: in seconds on MariaDB, in milliseconds on MySQL. */
async function limitReads(client: Client, maxReadMs: number): Promise<void> {
  const isLimited = await client.query(`set session max_statement_time = ${maxReadMs / 1000}`).then(
    () => true,
    () => false,
  )
  if (!isLimited) await client.query(`set session max_execution_time = ${Math.ceil(maxReadMs)}`)
}

async function openService({
  config: { limits },
  reached,
  lend,
  options,
  logger,
  opened,
  failed,
}: ServiceOptions<Client, MysqlServerConnection>): Promise<ServiceParts> {
  const { settings, dialect } = reached
  if (reached.isGalera)
    logger.info(
      'the database is a node of a Galera cluster: writes take turns with those on other nodes. Change the model through one process',
    )
  const reads = openReads(options.reads, dialect, failed)
  opened.add(reads.close)
  const writes = openWrites(options.writes, reached, failed)
  opened.add(writes.close)
  const change = { settings, dialect, wait: maxTableWaitMs(limits), waitForOthers: startTimeoutMs, failed }
  return {
    reads,
    writes,
    replicas: () => null,
    main: createMainConnection(lend, failed),
    commits: null,
    names: databaseNames.mysql,
    applyChange: (work) => applyMysqlChange(change, work),
    checkSteps: (steps) => checkMysqlSteps(change, steps),
    describeSteps: (steps) => Promise.all(steps.map((step, index) => describeMysqlStep(step, steps.slice(index + 1)))),
  }
}

export const mysql: ServerKind<Client, Pool, MysqlServerConnection> = {
  scheme: 'mysql',
  connect: connectToServer,
  checkSchema: async () => {},
  openIndexPool: (settings) => {
    const pool = openPool(settings, { max: 1, failed: () => {} })
    return { pool, close: pool.close }
  },
  activity: (pool) => pool.activity('main'),
  lend: onClient,
  take: async (pool) => {
    const client = await pool.acquire()
    return { client, end: () => pool.release(client, true) }
  },
  query: async (client, text) => (await client.query(text)).rows,
  createMain: (lend, _reached, failed) => createMainConnection(lend, failed),
  isUnprepared,
  inspect: inspectMysql,
  findMismatches: findSchemaMismatches,
  readDeclaredColumns,
  beginSnapshot: async (client, maxReadMs) => {
    if (maxReadMs !== undefined) await limitReads(client, maxReadMs)
    await beginSnapshot(client)
    return client
  },
  lockStart: async (client, wait) => {
    if (!(await takeLock(client, 'start', wait))) throw new Error('Another process holds the lock')
  },
  prepare: ({ small }, model, preparation) => prepareDatabase(small, model, preparation),
  createZoneTable: octavoTable(zoneTable, zoneColumns),
  createIndexes: (pool, _config, model, report, stop) => createIndexes(pool, model, report, stop),
  spans,
  openService,
  openCommandWrites: (options, reached) => openWrites(options, reached, () => {}),
  openSource: mysqlSource,
  openTarget: (client, name, close) => mysqlTarget(client, name, 'batches', close),
  openReplacement,
  withModelNames: (rows) => rows,
  uninstall: {
    tables:
      "select table_name from information_schema.tables where table_schema = database() and table_type = 'BASE TABLE' order by table_name",
    indexes: `select distinct index_name, table_name from information_schema.statistics
      where table_schema = database() and index_name like 'octavo\\_%' and table_name not like 'octavo\\_%' order by table_name, index_name`,
    connected: 'information_schema.processlist where db = database() and id <> connection_id()',
    connectedProblem: 'Another connection is open to this database. Stop Octavo and Strapi. Nothing was changed',
    begin: (waitMs) => `set session lock_wait_timeout = ${Math.ceil(waitMs / 1000)}`,
    commit: 'commit',
    dropIndex: (name, table) => `drop index ${quoted(name)} on ${quoted(table)}`,
    isLockWait,
    inUseProblem: 'A table is in use. Stop what uses it, and repeat the command: it goes on',
  },
}

export const mysqlDriver = (firstRows: (locale: string, model: Model, fill: FillDatabase) => WriteFirstRows): Driver =>
  serverDriver(mysql, firstRows)

function openReplacement(client: Client, name: string, wait: number, close: () => Promise<void>): RowReplacement {
  return {
    ...reading(client, name),
    coercion: coercionTo,
    begin: async () => {
      // Deleting all rows first makes the transaction lock the table from then on, as long as it has read nothing before.
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
