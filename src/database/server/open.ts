// Opens a project's database on a server, for a service or for a command that writes.
import type { Logger } from 'pino'
import type { Config } from '../../foundation/config/config.js'
import type { ServerSettings } from '../../foundation/config/database.js'
import { openClosers } from '../../foundation/runtime/shutdown.js'
import type { Model } from '../../model/schema/types.js'
import { warnOfDifferences } from '../../model/tables/compare-database.js'
import { createBackgroundIndexes, startIndexing } from '../background-indexes.js'
import type { CommandDatabase, Database, DatabaseHost } from '../database.js'
import type { WriteFirstRows } from '../driver.js'
import { maxTableWaitMs, startTimeoutMs } from '../limits.js'
import { createSigner } from '../response/signed-addresses.js'
import { connectionOptions } from './connections.js'
import { createHealthMonitor } from './health.js'
import type { Lend, ServerConnection, ServerKind } from './kind.js'
import { checkTimeZone } from './time-zone.js'
import { serverActivity } from './writes.js'

/** Timeout of a health probe in milliseconds. */
const probeTimeoutMs = 3_000

/** Creates missing tables and columns, and the first rows of a new database. `wait`: lock timeout. @throws ConfigError on failure */
export const prepareFor = <Client, Pool, Reached extends ServerConnection<Pool>>(
  kind: ServerKind<Client, Pool, Reached>,
  config: Config,
  model: Model,
  reached: Reached,
  fill: WriteFirstRows,
  wait: number,
): ReturnType<typeof kind.prepare> => kind.prepare(reached, model, { wait, sessions: config.auth.jwtManagement === 'refresh', fill })

/** Prepares the database and warns of schema drift in an existing one. */
async function prepareAndWarn<Client, Pool, Reached extends ServerConnection<Pool>>(
  kind: ServerKind<Client, Pool, Reached>,
  config: Config,
  model: Model,
  reached: Reached,
  { logger, fill }: { readonly logger: Logger; readonly fill: WriteFirstRows },
): Promise<void> {
  const { isNew, added, notUnique = [] } = await prepareFor(kind, config, model, reached, fill, startTimeoutMs)
  if (notUnique.length > 0)
    logger.warn({ indexes: notUnique }, 'unique indexes of tables of the service are missing, because rows have the same values')
  await kind.lend(reached.small, async (client) => {
    if (!isNew) warnOfDifferences(logger, added, await kind.findMismatches(client, model))
    const ask = async (statement: string) => (await kind.query(client, statement))[0]?.[0] ?? null
    await checkTimeZone(ask, kind.createZoneTable, logger, new Date())
  })
}

/** Creates Octavo's missing indexes on temporary connections. */
function indexInBackground<Client, Pool, Reached extends ServerConnection<Pool>>(
  kind: ServerKind<Client, Pool, Reached>,
  config: Config,
  settings: ServerSettings,
  model: Model,
  logger: Logger,
): () => Promise<void> {
  const { pool, close } = kind.openIndexPool(settings)
  const stop = startIndexing((signal) => kind.createIndexes(pool, config, model, () => {}, signal), {
    created: (count) => count > 0 && logger.info({ indexes: count }, 'created missing indexes'),
    failed: (error) => logger.error({ err: error }, 'could not create an index'),
  })
  return async () => {
    await stop()
    await close()
  }
}

/**
 * Opens a service's database: a small pool for essential statements, and a pool each for reads and writes.
 * @throws ConfigError if the database cannot be reached or prepared
 */
export async function openServerDatabase<Client, Pool, Reached extends ServerConnection<Pool>>(
  kind: ServerKind<Client, Pool, Reached>,
  config: Config,
  model: Model,
  { logger, signing }: Pick<DatabaseHost, 'logger' | 'signing'>,
  fill: WriteFirstRows,
): Promise<Database> {
  const opened = openClosers()
  let small: Pool | null = null
  const health = createHealthMonitor({
    probe: async () => small === null || kind.lend(small, (client) => kind.query(client, 'select 1'), probeTimeoutMs),
    lost: (error) => logger.error({ err: error }, 'the database cannot be reached'),
    found: () => logger.info('the database can be reached again'),
  })
  opened.add(async () => health.close())
  try {
    const { failed } = health
    const reached = await kind.connect(config.database.server!, failed)
    small = reached.small
    opened.add(reached.close)
    await prepareAndWarn(kind, config, model, reached, { logger, fill })
    const indexes = createBackgroundIndexes(
      config.database.indexes ? (wanted) => indexInBackground(kind, config, reached.settings, wanted, logger) : null,
    )
    opened.add(indexes.stop)
    await indexes.begin(model)
    const options = connectionOptions(config, reached.settings, signing === null ? null : await createSigner(signing))
    const lend: Lend<Client> = (work) => kind.lend(reached.small, work, config.limits.readTimeout)
    const parts = await kind.openService({ config, reached, lend, options, logger, opened, failed })
    const { reads, writes, replicas, applyChange, checkSteps } = parts
    return {
      ...parts,
      spans: kind.spans,
      addMissing: async (wanted) => {
        await prepareFor(kind, config, wanted, reached, fill, maxTableWaitMs(config.limits))
        await indexes.begin(wanted)
      },
      applyChange: (work) =>
        indexes.without(async () => {
          const isMade = await applyChange(work)
          if (isMade) await indexes.begin(work.model)
          return isMade
        }),
      checkSteps: checkSteps === null ? null : (steps) => indexes.without(() => checkSteps(steps)),
      mismatches: (wanted) => kind.lend(reached.small, (client) => kind.findMismatches(client, wanted)),
      tableScans: null,
      activity: () => serverActivity(kind.activity(reached.small), reads, writes, replicas()),
      trouble: health.trouble,
      close: () => opened.close(0),
    }
  } catch (error) {
    await opened.close(0).catch(() => {})
    throw error
  }
}

/** Opens the database for a command that writes a few rows. @throws ConfigError like `openServerDatabase` */
export async function openServerForCommand<Client, Pool, Reached extends ServerConnection<Pool>>(
  kind: ServerKind<Client, Pool, Reached>,
  config: Config,
  model: Model,
  reached: Reached,
  fill: WriteFirstRows,
): Promise<CommandDatabase> {
  const { writeTimeout: writeTimeoutMs } = config.limits
  await prepareFor(kind, config, model, reached, fill, startTimeoutMs)
  const lend: Lend<Client> = (work) => kind.lend(reached.small, work)
  const writes = kind.openCommandWrites(
    { settings: reached.settings, signer: null, connections: 1, writeTimeoutMs, writtenBytes: Number.MAX_SAFE_INTEGER },
    reached,
    lend,
  )
  return {
    main: kind.createMain(lend, reached),
    writes,
    close: async () => {
      await writes.close()
      await reached.close()
    },
  }
}
