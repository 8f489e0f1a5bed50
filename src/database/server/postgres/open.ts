// Opens the PostgreSQL database of a project, for a service or for a command that writes.

import type pg from 'pg'
import type { Logger } from 'pino'
import type { Config } from '../../../foundation/config/config.js'
import type { ServerSettings } from '../../../foundation/config/database.js'
import { openClosers } from '../../../foundation/runtime/shutdown.js'
import type { Model } from '../../../model/schema/types.js'
import type { Prepared } from '../../../model/tables/compare-database.js'
import { warnOfDifferences } from '../../../model/tables/compare-database.js'
import { type BackgroundIndexes, createBackgroundIndexes, startIndexing } from '../../background-indexes.js'
import {
  type CommandDatabase,
  type Database,
  type DatabaseHost,
  type DatabaseNames,
  databaseNames,
  type ModelWork,
} from '../../database.js'
import type { WriteFirstRows } from '../../driver.js'
import { startTimeoutMs } from '../../limits.js'
import { createSigner } from '../../response/signed-addresses.js'
import { connectionOptions } from '../connections.js'
import { createHealthMonitor } from '../health.js'
import { checkTimeZone, zoneColumns, zoneTable } from '../time-zone.js'
import { serverActivity } from '../writes.js'
import { applyPostgresChange, type PostgresChangeOptions } from './apply-change.js'
import { connectToServer, createMainConnection, type PostgresServerConnection } from './availability.js'
import { catalogNames, findSchemaMismatches } from './catalog.js'
import { describePostgresStep } from './change-statements.js'
import { spans } from './coerce-values.js'
import { createCommitLogAccess, loggingAccess, tryReadingLog, tryWritingLog, watchCommits } from './commit-log.js'
import { type AskServer, onConnection, openPool, poolActivity, type Statements } from './connection.js'
import { createIndexes, type WantedIndexes } from './indexes.js'
import { prepareDatabase } from './prepare-database.js'
import { openReads } from './reads.js'
import { createReplicas, readsWithReplicas } from './replicas.js'
import { createCommitOutcomes } from './transaction.js'
import { openWrites } from './writes.js'

/** Milliseconds for the server to answer a look whether it is there. */
const probeTimeout = 3_000
/** Connections that creating indexes takes. */
const indexPool = 2

/**
 * Creates missing tables, columns and, in a new database, the first rows. `wait`: milliseconds for locks. @throws ConfigError if the
 * database cannot be prepared
 */
const prepare = (
  config: Config,
  model: Model,
  { small, settings }: PostgresServerConnection,
  fill: WriteFirstRows,
  wait: number,
): Promise<Prepared> =>
  prepareDatabase(small, model, {
    schema: settings.schema,
    wait,
    sessions: config.auth.jwtManagement === 'refresh',
    fill,
  })

/** Prepares the database, and warns of what in an existing one differs from the model. */
async function prepareAndWarn(
  config: Config,
  model: Model,
  reached: PostgresServerConnection,
  logger: Pick<Logger, 'info' | 'warn' | 'error'>,
  fill: WriteFirstRows,
): Promise<void> {
  const { isNew, added } = await prepare(config, model, reached, fill, startTimeoutMs)
  if (!isNew) warnOfDifferences(logger, added, await findSchemaMismatches(reached.small, model))
  const ask = async (statement: string) => Object.values((await reached.small.query(statement)).rows[0] ?? {})[0] ?? null
  await checkTimeZone(ask, `create table if not exists ${zoneTable} (${zoneColumns.join(', ')})`, logger, new Date())
}

/** Creates Octavo's missing indexes on temporary connections. */
function indexInBackground(settings: ServerSettings, wanted: WantedIndexes, logger: Logger): () => Promise<void> {
  const pool = openPool(settings, { max: indexPool, pipelined: false, failed: () => {} })
  const stop = startIndexing((signal) => createIndexes(pool, wanted, () => {}, signal), {
    created: (count) => count > 0 && logger.info({ indexes: count }, 'created missing indexes'),
    failed: (error) => logger.error({ err: error }, 'could not create an index'),
  })
  return async () => {
    await stop()
    await pool.end()
  }
}

/** Watches commits and, while their log is available, their tables. */
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

/** Starts the creation of missing indexes for a model; null: disabled by the settings. */
const indexing = ({ indexes, nullsFirst }: Config['database'], settings: ServerSettings, logger: Logger) =>
  indexes ? (model: Model) => indexInBackground(settings, { model, nullsFirst }, logger) : null

/** Carries out a change. What connections have prepared, and types of columns that are known, may be others afterwards. */
const applyChangePausingIndexes = (
  indexes: BackgroundIndexes,
  statements: Statements,
  carrying: PostgresChangeOptions,
  work: ModelWork,
): Promise<boolean> =>
  indexes.without(async () => {
    const isMade = await applyPostgresChange(carrying, work)
    if (!isMade) return false
    statements.forget()
    await indexes.begin(work.model)
    return true
  })

/** The names of a server, whose catalog has its own. */
async function readNames(pool: pg.Pool): Promise<DatabaseNames> {
  const catalog = await catalogNames(pool)
  return { ...databaseNames.postgres, isReservedTable: (name) => catalog.has(name) }
}

/**
 * Opens the database of a service: a small pool for what everything depends on, a pool for reads and one for writes.
 * @throws ConfigError with a sentence if the database cannot be reached or prepared
 */
export async function openPostgresDatabase(
  config: Config,
  model: Model,
  { logger, signing }: Pick<DatabaseHost, 'logger' | 'signing'>,
  fill: WriteFirstRows,
): Promise<Database> {
  const opened = openClosers()
  let small: pg.Pool | null = null
  const health = createHealthMonitor({
    probe: async () => small === null || onConnection(small, (client) => client.query('select 1'), probeTimeout),
    lost: (error) => logger.error({ err: error }, 'the database cannot be reached'),
    found: () => logger.info('the database can be reached again'),
  })
  opened.add(async () => health.close())
  try {
    const reached = await connectToServer(config, health.failed)
    const { settings, statements } = reached
    small = reached.small
    opened.add(reached.close)
    await prepareAndWarn(config, model, reached, logger, fill)
    const indexes = createBackgroundIndexes(indexing(config.database, settings, logger))
    opened.add(indexes.stop)
    await indexes.begin(model)
    const options = connectionOptions(config, settings, signing === null ? null : await createSigner(signing))
    const { readTimeout } = config.limits
    const main = createMainConnection((work) => onConnection(reached.small, work, readTimeout), statements, health.failed)
    const commits = watchCommitLog(main.ask, config, settings, logger)
    const writes = openWrites(options.writes, { small, statements, log: commits.log, failed: health.failed })
    opened.add(writes.close)
    const carrying = {
      settings,
      outcomes: createCommitOutcomes(small, statements),
      wait: config.limits.modelChangeTimeout,
      failed: health.failed,
    }
    const replicas = createReplicas(config, options.reads, statements, logger)
    const reads = readsWithReplicas(openReads(options.reads, statements, health.failed), replicas, commits.positionAfter, readTimeout)
    opened.add(reads.close)
    return {
      reads,
      writes,
      main: { ...main, changed: commits.changed },
      commits: commits.watch,
      names: await readNames(reached.small),
      spans,
      addMissing: async (wanted) => {
        await prepare(config, wanted, reached, fill, config.limits.modelChangeTimeout)
        // Another process may have changed the types of columns.
        statements.forget()
        await indexes.begin(wanted)
      },
      revertChange: null,
      applyChange: (work) => applyChangePausingIndexes(indexes, statements, carrying, work),
      describeSteps: async (steps) => steps.map(describePostgresStep),
      mismatches: (wanted) => findSchemaMismatches(reached.small, wanted),
      tableScans: null,
      activity: () => serverActivity(poolActivity('main', reached.small), reads, writes, reads.replicas()),
      trouble: health.trouble,
      close: () => opened.close(0),
    }
  } catch (error) {
    await opened.close(0).catch(() => {})
    throw error
  }
}

/** Opens the database for a command that writes a few rows. @throws ConfigError as `openPostgresDatabase` */
export async function openPostgresForCommand(config: Config, model: Model, fill: WriteFirstRows): Promise<CommandDatabase> {
  const reached = await connectToServer(config)
  const { settings, small, statements } = reached
  await prepare(config, model, reached, fill, startTimeoutMs).catch(async (error: unknown) => {
    await reached.close()
    throw error
  })
  const { writeQueue, writeTimeout } = config.limits
  const main = createMainConnection((work) => onConnection(small, work), statements)
  // A service that looks at its rows takes those that are missing for a change of everything.
  const log = createCommitLogAccess({ tryLog: () => tryWritingLog(main.ask), lost: () => {}, found: () => {} })
  const writes = openWrites(
    { settings, signer: null, connections: 1, writeQueue, writeTimeoutMs: writeTimeout, writtenBytes: Number.MAX_SAFE_INTEGER },
    { small, statements, log, failed: () => {} },
  )
  return {
    main,
    writes,
    close: async () => {
      await writes.close()
      await reached.close()
    },
  }
}
