// Opens the MySQL or MariaDB database of a project, for a service or for a command that writes.

import type { Logger } from 'pino'
import type { Config } from '../../../foundation/config/config.js'
import type { ServerSettings } from '../../../foundation/config/database.js'
import { openClosers } from '../../../foundation/runtime/shutdown.js'
import type { Model } from '../../../model/schema/types.js'
import { warnOfDifferences } from '../../../model/tables/compare-database.js'
import { createBackgroundIndexes, startIndexing } from '../../background-indexes.js'
import { type CommandDatabase, type Database, type DatabaseHost, databaseNames } from '../../database.js'
import type { WriteFirstRows } from '../../driver.js'
import { startTimeoutMs } from '../../limits.js'
import { createSigner } from '../../response/signed-addresses.js'
import { connectionOptions } from '../connections.js'
import { createHealthMonitor } from '../health.js'
import { checkTimeZone, zoneColumns, zoneTable } from '../time-zone.js'
import { serverActivity } from '../writes.js'
import { applyMysqlChange, revertMysqlChange } from './apply-change.js'
import { connectToServer, createMainConnection, type MysqlServerConnection } from './availability.js'
import { findSchemaMismatches, readCatalog } from './catalog.js'
import { describeMysqlStep } from './change-statements.js'
import { spans } from './coerce-values.js'
import { octavoTable } from './create-tables.js'
import { createIndexes } from './indexes.js'
import { onClient, openPool, type Pool } from './pool.js'
import { type MysqlPrepared, prepareDatabase } from './prepare-database.js'
import { openReads } from './reads.js'
import { openWrites } from './writes.js'

/** Milliseconds for the server to answer a look whether it is there. */
const probeTimeout = 3_000

/**
 * Creates missing tables, columns and, in a new database, the first rows. `wait`: milliseconds for locks. @throws ConfigError if the
 * database cannot be prepared
 */
async function prepare(
  config: Config,
  model: Model,
  { small, statements }: MysqlServerConnection,
  fill: WriteFirstRows,
  wait: number,
): Promise<MysqlPrepared> {
  const prepared = await prepareDatabase(small, model, {
    wait,
    sessions: config.auth.jwtManagement === 'refresh',
    fill,
  })
  statements.learn(await onClient(small, readCatalog))
  return prepared
}

/** Prepares the database, and warns of what in an existing one differs from the model. */
async function prepareAndWarn(
  config: Config,
  model: Model,
  reached: MysqlServerConnection,
  logger: Pick<Logger, 'warn' | 'info' | 'error'>,
  fill: WriteFirstRows,
): Promise<void> {
  if (reached.isGalera)
    logger.info(
      'the database is a node of a Galera cluster: writes take turns with those on other nodes. Change the model through one process',
    )
  const { isNew, added, notUnique } = await prepare(config, model, reached, fill, startTimeoutMs)
  if (notUnique.length > 0)
    logger.warn({ indexes: notUnique }, 'unique indexes of tables of the service are missing, because rows have the same values')
  if (!isNew) warnOfDifferences(logger, added, await onClient(reached.small, (client) => findSchemaMismatches(client, model)))
  const ask = (statement: string) => onClient(reached.small, async (client) => (await client.query(statement)).rows[0]?.[0] ?? null)
  await checkTimeZone(ask, octavoTable(zoneTable, zoneColumns), logger, new Date())
}

/** Changes tables and reloads the catalog. */
async function reloadingCatalog<Result>(change: () => Promise<Result>, { small, statements }: MysqlServerConnection): Promise<Result> {
  try {
    return await change()
  } finally {
    statements.learn(await onClient(small, readCatalog))
  }
}

/** Creates Octavo's missing indexes on a temporary connection. */
function indexInBackground(settings: ServerSettings, model: Model, logger: Logger): () => Promise<void> {
  const pool = openPool(settings, { max: 1, failed: () => {} })
  const stop = startIndexing((signal) => createIndexes(pool, model, () => {}, signal), {
    created: (count) => count > 0 && logger.info({ indexes: count }, 'created missing indexes'),
    failed: (error) => logger.error({ err: error }, 'could not create an index'),
  })
  return async () => {
    await stop()
    await pool.close()
  }
}

/**
 * Opens the database of a service: a small pool for what everything depends on, a pool for reads and one for writes.
 * @throws ConfigError with a sentence if the database cannot be reached or prepared
 */
export async function openMysqlDatabase(
  config: Config,
  model: Model,
  { logger, signing }: Pick<DatabaseHost, 'logger' | 'signing'>,
  fill: WriteFirstRows,
): Promise<Database> {
  const opened = openClosers()
  let small: Pool | null = null
  const health = createHealthMonitor({
    probe: async () => small === null || onClient(small, (client) => client.query('select 1'), probeTimeout),
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
    const indexes = createBackgroundIndexes(config.database.indexes ? (wanted) => indexInBackground(settings, wanted, logger) : null)
    opened.add(indexes.stop)
    await indexes.begin(model)
    const signer = signing === null ? null : await createSigner(signing)
    const options = connectionOptions(config, settings, signer)
    const reads = openReads(options.reads, statements, health.failed)
    opened.add(reads.close)
    const writes = openWrites(options.writes, reached, health.failed)
    opened.add(writes.close)
    const wait = config.limits.modelChangeTimeout
    const carrying = { settings, dialect: statements.dialect, wait, waitForOthers: startTimeoutMs, failed: health.failed }
    const changingTables = (change: () => Promise<boolean>) => indexes.without(() => reloadingCatalog(change, reached))
    const main = createMainConnection((work) => onClient(reached.small, work, config.limits.readTimeout), statements, health.failed)
    return {
      reads,
      writes,
      main,
      commits: null,
      names: databaseNames.mysql,
      spans,
      addMissing: async (wanted) => {
        await prepare(config, wanted, reached, fill, config.limits.modelChangeTimeout)
        await indexes.begin(wanted)
      },
      applyChange: (work) => changingTables(() => applyMysqlChange(carrying, work)),
      revertChange: (work) => changingTables(() => revertMysqlChange(carrying, work)),
      describeSteps: (steps) => Promise.all(steps.map((step, index) => describeMysqlStep(step, steps.slice(index + 1)))),
      mismatches: (wanted) => onClient(reached.small, (client) => findSchemaMismatches(client, wanted)),
      tableScans: null,
      activity: () => serverActivity(reached.small.activity('main'), reads, writes),
      trouble: health.trouble,
      close: () => opened.close(0),
    }
  } catch (error) {
    await opened.close(0).catch(() => {})
    throw error
  }
}

/** Opens the database for a command that writes a few rows. @throws ConfigError as `openMysqlDatabase` */
export async function openMysqlForCommand(config: Config, model: Model, fill: WriteFirstRows): Promise<CommandDatabase> {
  const reached = await connectToServer(config)
  const { settings, small, statements } = reached
  await prepare(config, model, reached, fill, startTimeoutMs).catch(async (error: unknown) => {
    await reached.close()
    throw error
  })
  const { writeQueue, writeTimeout } = config.limits
  const writes = openWrites(
    { settings, signer: null, connections: 1, writeQueue, writeTimeoutMs: writeTimeout, writtenBytes: Number.MAX_SAFE_INTEGER },
    reached,
    () => {},
  )
  return {
    main: createMainConnection((work) => onClient(small, work), statements),
    writes,
    close: async () => {
      await writes.close()
      await reached.close()
    },
  }
}
