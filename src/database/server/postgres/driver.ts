// The PostgreSQL driver.
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Config } from '../../../foundation/config/config.js'
import type { ServerSettings } from '../../../foundation/config/database.js'
import { ConfigError } from '../../../foundation/errors/errors.js'
import type { Model } from '../../../model/schema/types.js'
import { quoted } from '../../../model/tables/table.js'
import { type DatabaseNames, databaseNames, type FillDatabase } from '../../database.js'
import type { Driver, WriteFirstRows } from '../../driver.js'
import { maxTableWaitMs } from '../../limits.js'
import type { RowCondition, RowReplacement, RowTable } from '../../transfer/rows.js'
import { serverDriver } from '../driver.js'
import type { ServerKind, ServiceOptions, ServiceParts } from '../kind.js'
import { zoneColumns, zoneTable } from '../time-zone.js'
import { applyPostgresChange } from './apply-change.js'
import { connectToServer, createMainConnection, type PostgresServerConnection } from './availability.js'
import { beginSnapshot, catalogNames, checkSchema, findSchemaMismatches, inspectPostgres, readDeclaredColumns } from './catalog.js'
import { describePostgresStep } from './change-statements.js'
import { coercionTo, spans } from './coerce-values.js'
import { createCommitLogAccess, loggingAccess, tryReadingLog, tryWritingLog, watchCommits } from './commit-log.js'
import { isConflict, isLockWait } from './errors.js'
import { createIndexes } from './indexes.js'
import { type AskServer, onConnection, openPool, poolActivity } from './pool.js'
import { isUnprepared, prepareDatabase } from './prepare-database.js'
import { openReads } from './reads.js'
import { createReplicas, readsWithReplicas } from './replicas.js'
import {
  insertRows,
  postgresSource,
  postgresTarget,
  reading,
  selectedBy,
  setNumbers,
  updateRows,
  valueFormats,
  valuesOf,
  withModelNames,
} from './rows.js'
import { createCommitOutcomes } from './transaction.js'
import { openWrites } from './writes.js'

/** Connections needed for index creation. */
const indexPool = 2

/** Advisory lock of starting processes: the same number in every version. */
const starting = 7_082_100_003

/** Watches commits and, while the commit log is available, their tables. */
function watchCommitLog(ask: AskServer, { database }: Config, { schema }: ServerSettings, logger: Logger) {
  const hasReplicas = database.replicas.length > 0
  const log = createCommitLogAccess({
    tryLog: async () => {
      await tryWritingLog(ask)
      await tryReadingLog(ask, hasReplicas)
    },
    ...loggingAccess(schema, logger),
  })
  return { log, ...watchCommits(ask, log, hasReplicas) }
}

/** The names reserved by this server's catalog. */
async function readNames(pool: pg.Pool): Promise<DatabaseNames> {
  const catalog = await catalogNames(pool)
  return { ...databaseNames.postgres, isReservedTable: (name) => catalog.has(name) }
}

async function openService({
  config,
  reached,
  lend,
  options,
  logger,
  opened,
  failed,
}: ServiceOptions<pg.PoolClient, PostgresServerConnection>): Promise<ServiceParts> {
  const { settings, small, statements } = reached
  const { readTimeout } = config.limits
  const main = createMainConnection(lend, statements, failed)
  const commits = watchCommitLog(main.ask, config, settings, logger)
  const writes = openWrites(options.writes, { small, statements, log: commits.log, failed })
  opened.add(writes.close)
  const replicas = createReplicas(config, options.reads, statements, logger)
  const reads = readsWithReplicas(openReads(options.reads, statements, failed), replicas, commits.positionAfter, readTimeout)
  opened.add(reads.close)
  const change = { settings, outcomes: createCommitOutcomes(small, statements), wait: maxTableWaitMs(config.limits), failed }
  return {
    reads,
    writes,
    replicas: reads.replicas,
    main: { ...main, changed: commits.changed },
    commits: commits.watch,
    names: await readNames(small),
    applyChange: async (work) => {
      const isMade = await applyPostgresChange(change, work)
      if (isMade) statements.forget()
      return isMade
    },
    checkSteps: null,
    describeSteps: async (steps) => steps.map(describePostgresStep),
  }
}

export const postgres: ServerKind<pg.PoolClient, pg.Pool, PostgresServerConnection> = {
  scheme: 'postgres',
  connect: connectToServer,
  checkSchema: (client, { schema }) => checkSchema(client, schema),
  openIndexPool: (settings) => {
    const pool = openPool(settings, { max: indexPool, pipelined: false, failed: () => {} })
    return { pool, close: () => pool.end() }
  },
  activity: (pool) => poolActivity('main', pool),
  lend: onConnection,
  take: async (pool) => {
    const client = await pool.connect()
    return { client, end: () => client.release(true) }
  },
  query: async (client, text) => (await client.query<unknown[]>({ text, rowMode: 'array' } as never)).rows,
  createMain: (lend, { statements }, failed) => createMainConnection(lend, statements, failed),
  isUnprepared,
  inspect: inspectPostgres,
  findMismatches: findSchemaMismatches,
  readDeclaredColumns,
  beginSnapshot: async (client, maxReadMs) => {
    if (maxReadMs !== undefined) await client.query(`set statement_timeout = ${Math.ceil(maxReadMs)}`)
    // Callers use `query` only.
    return (await beginSnapshot(client)) as pg.PoolClient
  },
  lockStart: async (client, wait) => {
    await client.query('begin')
    await client.query(`set local lock_timeout = ${Math.max(1, Math.round(wait))}`)
    await client.query(`select pg_advisory_xact_lock(${starting})`)
  },
  prepare: async ({ small, settings, statements }, model, preparation) => {
    const prepared = await prepareDatabase(small, model, { schema: settings.schema, ...preparation })
    // Another process may have changed column types.
    statements.forget()
    return prepared
  },
  createZoneTable: `create table if not exists ${zoneTable} (${zoneColumns.join(', ')})`,
  createIndexes: (pool, { database }, model, report, stop) => createIndexes(pool, { model, nullsFirst: database.nullsFirst }, report, stop),
  spans,
  openService,
  openCommandWrites: (options, { small, statements }, lend) => {
    const { ask } = createMainConnection(lend, statements)
    // If the log is unavailable, services assume that everything has changed.
    const log = createCommitLogAccess({ tryLog: () => tryWritingLog(ask), lost: () => {}, found: () => {} })
    return openWrites(options, { small, statements, log, failed: () => {} })
  },
  openSource: (client, name, close) => postgresSource(sequentially(client), name, close),
  openTarget: (client, name, close) => postgresTarget(client, name, 'batches', close),
  openReplacement,
  withModelNames,
  uninstall: {
    tables: `select relname from pg_class where relkind = 'r' and relnamespace = (select oid from pg_namespace where nspname = current_schema())
      order by relname`,
    indexes: `select c.relname, t.relname from pg_class c join pg_index i on i.indexrelid = c.oid join pg_class t on t.oid = i.indrelid
      where c.relnamespace = (select oid from pg_namespace where nspname = current_schema()) and c.relkind = 'i'
      and c.relname like 'octavo\\_%' and t.relname not like 'octavo\\_%' order by c.relname`,
    connected: "pg_stat_activity where datname = current_database() and application_name = 'octavo' and pid <> pg_backend_pid()",
    connectedProblem: 'An Octavo is connected to this database. Stop it. Nothing was changed',
    begin: (waitMs) => `begin; set local lock_timeout = ${Math.ceil(waitMs)}; set local statement_timeout = 0`,
    commit: 'commit',
    dropIndex: (name) => `drop index ${quoted(name)}`,
    isLockWait,
    inUseProblem: 'The tables are in use. Stop what uses them. Nothing was changed',
  },
}

export const postgresDriver = (firstRows: (locale: string, model: Model, fill: FillDatabase) => WriteFirstRows): Driver =>
  serverDriver(postgres, firstRows)

/** A connection that queues statements: the next rows are prefetched while others are requested. */
function sequentially(client: pg.PoolClient): pg.ClientBase {
  let last: Promise<unknown> = Promise.resolve()
  const query = (...given: Parameters<typeof client.query>): Promise<unknown> => {
    const next = last.then(() => client.query(...given))
    last = next.catch(() => {})
    return next
  }
  return { query } as unknown as pg.ClientBase
}

function openReplacement(pooled: pg.PoolClient, name: string, wait: number, close: () => Promise<void>): RowReplacement {
  const client = sequentially(pooled)
  return {
    ...reading(client, name),
    coercion: coercionTo,
    begin: (tables) => begin(client, tables, wait),
    remove: (table, where) => remove(client, table, where),
    insert: (table, rows) => insertRows(client, table, rows),
    update: (table, rows) => updateRows(client, table, rows),
    commit: async () => {
      await setNumbers(client, await reading(client, name).lastNumbers())
      await client.query('commit').catch((error: unknown) => {
        throw isConflict(error) ? new ConfigError('Another write came in between, and nothing was changed. Try again') : error
      })
      await client.query('analyze').catch(() => {})
    },
    rollback: async () => {
      await client.query('rollback')
    },
    close,
  }
}

/**
 * Takes locks that allow reads, before the snapshot, so that nothing is committed in between. Serializable, so that concurrent writes that
 * have read the replaced rows fail and are retried.
 */
async function begin(client: pg.ClientBase, tables: readonly RowTable[], wait: number): Promise<void> {
  const names = tables.map(({ name }) => quoted(name)).sort()
  await client.query(`begin isolation level serializable read write; ${valueFormats}; set local lock_timeout = ${Math.ceil(wait)}`)
  try {
    await client.query(`lock table ${names.join(', ')} in share row exclusive mode`)
  } catch (error) {
    if (!isLockWait(error)) throw error
    throw new ConfigError(`The tables have been in use by other writes for ${Math.round(wait / 1000)} seconds. Try again later`)
  }
}

async function remove(client: pg.ClientBase, table: RowTable, where: RowCondition): Promise<number> {
  const columns = Object.keys(where)
  const condition = columns.length === 0 ? '' : ` where ${selectedBy(table, columns)}`
  const values = columns.map((column) => valuesOf(table, column, where[column]!))
  return (await client.query(`delete from ${quoted(table.name)}${condition}`, values)).rowCount ?? 0
}
