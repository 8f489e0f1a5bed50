// Opens the PostgreSQL database of a project.
import type pg from 'pg'
import type { Config } from '../../config/config.js'
import type { PostgresSettings } from '../../config/database-server.js'
import { ConfigError } from '../../errors/errors.js'
import type { Model } from '../../model/types.js'
import { openClosers } from '../../runtime/closers.js'
import { openSigner } from '../answer/signed-addresses.js'
import type { CommandDatabase, Database, DatabaseHost } from '../database.js'
import { openPool, openStatements, type Statements } from './connection.js'
import { isConnectionLoss } from './errors.js'
import { openMainConnection } from './main-connection.js'
import { openReads } from './reads.js'
import { openWrites } from './writes.js'

/** Connections for permissions, health and what the server is asked about statements. */
const smallPool = 2

interface Opened {
  readonly settings: PostgresSettings
  readonly small: pg.Pool
  readonly statements: Statements
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
  return { settings, small, statements: openStatements(small) }
}

const placeOf = ({ url, host, port, name }: PostgresSettings): string =>
  url === null ? `${host}:${port}/${name}` : url.replace(/\/\/[^@/]*@/, '//')

/**
 * Opens the database of a service: a small pool for what everything depends on, a pool for reads and one for writes.
 * @throws ConfigError with a sentence if the database cannot be reached or prepared
 */
export async function openPostgresDatabase(config: Config, _model: Model, { logger, signing }: DatabaseHost): Promise<Database> {
  const opened = openClosers()
  const { limits } = config
  const health = openHealth((error) => logger.error({ err: error }, 'lost a connection to the database'))
  try {
    const { settings, small, statements } = await reach(config, health.failed)
    opened.add(() => small.end())
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
    return { reads, writes, main: openMainConnection(small, statements), trouble: () => null, close: () => opened.close(0) }
  } catch (error) {
    await opened.close(0).catch(() => {})
    throw error
  }
}

/** Opens the database for a command that writes a few rows. */
export async function openPostgresForCommand(config: Config): Promise<CommandDatabase> {
  const ignored = () => {}
  const { settings, small, statements } = await reach(config, ignored)
  const { writeQueue, writeTimeout } = config.limits
  const writes = openWrites(
    { settings, signer: null, connections: 1, writeQueue, writeTimeout, writtenBytes: Number.MAX_SAFE_INTEGER },
    small,
    statements,
    ignored,
  )
  return {
    main: openMainConnection(small, statements),
    writes,
    close: async () => {
      await writes.close()
      await small.end()
    },
  }
}

/** Reports errors of idle connections, but for the loss of many at once: each is made again when it is needed. */
function openHealth(report: (error: Error) => void): { failed(error: Error): void } {
  let isReported = false
  return {
    failed: (error) => {
      if (isConnectionLoss(error) && isReported) return
      isReported = true
      setTimeout(() => {
        isReported = false
      }, 1_000).unref()
      report(error)
    },
  }
}
