// Opens the PostgreSQL database of a project.
import type pg from 'pg'
import type { Logger } from 'pino'
import type { Config } from '../../config/config.js'
import type { PostgresSettings } from '../../config/database-server.js'
import { ConfigError } from '../../errors/errors.js'
import type { Model } from '../../model/types.js'
import { openClosers } from '../../runtime/closers.js'
import { openSigner } from '../answer/signed-addresses.js'
import type { CommandDatabase, Database, DatabaseHost, DatabaseLock, DatabaseView } from '../database.js'
import type { Queryable } from './catalog.js'
import { onConnection, openPool, openStatements, type Statements } from './connection.js'
import { openHealth } from './health.js'
import { createIndexes, startIndexing } from './indexes.js'
import { beginSnapshot, inspectPostgres } from './inspection.js'
import { type Lend, openMainConnection } from './main-connection.js'
import { isUnprepared, prepareDatabase } from './prepare-database.js'
import { openReads } from './reads.js'
import { findSchemaMismatches } from './schema-mismatches.js'
import { openWrites } from './writes.js'

/** Connections for permissions and health. */
const smallPool = 2
/** Connections on which the server is asked about statements. */
const describingPool = 2
/** Milliseconds for the server to answer a look whether it is there. */
const probeTimeout = 3_000
/** Connections that creating indexes takes. */
const indexPool = 2

interface Opened {
  readonly settings: PostgresSettings
  readonly small: pg.Pool
  readonly statements: Statements
  close(): Promise<void>
}

/** Opens the small pool, and makes sure that the server can be reached. @throws ConfigError with a sentence */
async function reach(config: Config, failed: (error: Error) => void): Promise<Opened> {
  const settings = config.database.server!
  const small = openPool(settings, { max: smallPool, pipelined: false, failed })
  try {
    await small.query('select 1')
  } catch (error) {
    await small.end()
    throw new ConfigError(
      `The database at ${placeOf(settings)} cannot be used: ${(error as Error).message || (error as { code?: string }).code}.`,
    )
  }
  const describing = openPool(settings, { max: describingPool, pipelined: false, failed: () => {} })
  const close = async () => {
    await Promise.all([small.end(), describing.end()])
  }
  return { settings, small, statements: openStatements(describing), close }
}

/** The server and database as they may be shown: without a password. */
export function placeOf({ url, host, port, name }: PostgresSettings): string {
  if (url === null) return `${host}:${port}/${name}`
  if (!URL.canParse(url)) return 'postgres://…'
  const parsed = new URL(url)
  // A password with an unescaped slash or at sign ends in the host or the path: nothing before the last at sign is shown.
  const isOdd = parsed.pathname.includes('@')
  return `postgres://${isOdd ? parsed.pathname.slice(parsed.pathname.lastIndexOf('@') + 1) : parsed.host + parsed.pathname}`
}

/** Gives a new database its tables and first rows, an existing one what it lacks. @throws ConfigError if it cannot be prepared */
async function prepare(config: Config, model: Model, { small, settings }: Opened, logger: Log, fill: FirstRows): Promise<void> {
  const { isNew, added } = await prepareDatabase(small, model, {
    schema: settings.schema,
    wait: config.limits.startWait,
    sessions: config.auth.jwtManagement === 'refresh',
    fill,
  })
  if (isNew) return
  if (added.length > 0) logger.warn({ added }, 'added missing tables and columns')
  const { types, columns, tables } = await findSchemaMismatches(small, model)
  if (types.length > 0) logger.warn({ types }, 'the types of some columns do not match the model; their values may be shown incorrectly')
  if (columns.length + tables.length > 0)
    logger.warn({ columns, tables }, 'the database has columns or tables that are not in the model; they are ignored')
}

type Log = Pick<Logger, 'info' | 'warn'>

/** Fills a new database inside the transaction that makes its tables. */
export type FirstRows = (client: pg.ClientBase) => Promise<void>

/** Creates missing indexes of our own, on connections that are closed afterwards. */
function indexInBackground(settings: PostgresSettings, model: Model, logger: Logger): () => Promise<void> {
  const pool = openPool(settings, { max: indexPool, pipelined: false, failed: () => {} })
  const stop = startIndexing(pool, model, {
    made: (count) => count > 0 && logger.info({ indexes: count }, 'created missing indexes'),
    failed: (error) => logger.error({ err: error }, 'could not create an index'),
  })
  return async () => {
    await stop()
    await pool.end()
  }
}

/**
 * Opens the database of a service: a small pool for what everything depends on, a pool for reads and one for writes.
 * @throws ConfigError with a sentence if the database cannot be reached or prepared
 */
export async function openPostgresDatabase(
  config: Config,
  model: Model,
  { logger, signing }: Pick<DatabaseHost, 'logger' | 'signing'>,
  fill: FirstRows,
): Promise<Database> {
  const opened = openClosers()
  const { limits } = config
  let small: pg.Pool | null = null
  const health = openHealth({
    probe: async () => small === null || onConnection(small, (client) => client.query('select 1'), probeTimeout),
    lost: (error) => logger.error({ err: error }, 'the database cannot be reached'),
    found: () => logger.info('the database can be reached again'),
  })
  opened.add(async () => health.close())
  try {
    const reached = await reach(config, health.failed)
    const { settings, statements } = reached
    small = reached.small
    opened.add(reached.close)
    await prepare(config, model, reached, logger, fill)
    if (config.database.indexes) opened.add(indexInBackground(settings, model, logger))
    const signer = signing === null ? null : await openSigner(signing)
    const { max } = settings.pool
    const forWrites = Math.max(1, max >> 1)
    const reads = openReads(
      {
        settings,
        signer,
        connections: Math.max(1, max - forWrites),
        readQueue: limits.readQueue,
        heavyReadQueue: limits.heavyReadQueue,
        readTimeout: limits.readTimeout,
        answerBytes: limits.answerBytes,
      },
      statements,
      health.failed,
    )
    opened.add(reads.close)
    const writtenBytes = Math.max(limits.writtenBytes, limits.bodyBytes * 4)
    const { writeQueue, writeTimeout } = limits
    const writes = openWrites(
      { settings, signer, connections: forWrites, writeQueue, writeTimeout, writtenBytes },
      small,
      statements,
      health.failed,
    )
    opened.add(writes.close)
    const main = openMainConnection((work) => onConnection(reached.small, work, limits.readTimeout), statements, health.failed)
    return { reads, writes, main, trouble: health.trouble, close: () => opened.close(0) }
  } catch (error) {
    await opened.close(0).catch(() => {})
    throw error
  }
}

const ignored = () => {}

/** Opens the database for a command that writes a few rows. @throws ConfigError as `openPostgresDatabase` */
export async function openPostgresForCommand(config: Config, model: Model, fill: FirstRows): Promise<CommandDatabase> {
  const reached = await reach(config, ignored)
  const { settings, small, statements } = reached
  await prepare(config, model, reached, { info: ignored, warn: ignored }, fill).catch(async (error: unknown) => {
    await reached.close()
    throw error
  })
  const { writeQueue, writeTimeout } = config.limits
  const writes = openWrites(
    { settings, signer: null, connections: 1, writeQueue, writeTimeout, writtenBytes: Number.MAX_SAFE_INTEGER },
    small,
    statements,
    ignored,
  )
  return {
    main: openMainConnection((work) => onConnection(small, work), statements),
    writes,
    close: async () => {
      await writes.close()
      await reached.close()
    },
  }
}

/** `connection`: what tells of the database; `lend`: lends what reads it. */
function viewOf({ small, statements }: Opened, connection: Queryable, lend: Lend, close: () => Promise<void>): DatabaseView {
  return {
    ...inspectPostgres(connection),
    main: openMainConnection(lend, statements),
    isEmpty: () => isUnprepared(small),
    mismatches: (model) => findSchemaMismatches(small, model),
    close,
  }
}

/** Opens the database for a few reads. */
export async function lookIntoPostgres(config: Config): Promise<DatabaseView> {
  const reached = await reach(config, ignored)
  return viewOf(reached, reached.small, (work) => onConnection(reached.small, work), reached.close)
}

/** Opens the database for reads that all belong to one snapshot. */
export async function snapshotOfPostgres(config: Config): Promise<DatabaseView> {
  const reached = await reach(config, ignored)
  const client = await reached.small.connect()
  const snapshot = await beginSnapshot(client)
  return viewOf(
    reached,
    snapshot,
    (work) => work(snapshot),
    async () => {
      client.release(true)
      await reached.close()
    },
  )
}

/** Creates the missing indexes of our own, and reports each before it starts. Returns how many were created. */
export async function createPostgresIndexes(
  config: Config,
  model: Model,
  report: (name: string, done: number, missing: number) => void,
): Promise<number> {
  const { small } = await reach(config, ignored)
  try {
    return await createIndexes(small, model, ({ name }, done, missing) => report(name, done, missing))
  } finally {
    await small.end()
  }
}

/** The lock of processes that start together: the same number in every version. */
const starting = 7_082_100_003

/** Takes the lock. `wait`: milliseconds at most. */
export async function lockPostgres(config: Config, wait: number): Promise<DatabaseLock> {
  const { small } = await reach(config, ignored)
  const client = await small.connect()
  const release = async () => {
    client.release(true)
    await small.end()
  }
  try {
    await client.query('begin')
    await client.query(`set local lock_timeout = ${Math.max(1, Math.round(wait))}`)
    await client.query(`select pg_advisory_xact_lock(${starting})`)
  } catch (error) {
    await release()
    throw error
  }
  return {
    countTokens: async () => {
      if (await isUnprepared(client)) return 0
      const { rows } = await client.query<{ readonly count: number }>('select count(*) as count from strapi_api_tokens')
      return rows[0]!.count
    },
    release,
  }
}
