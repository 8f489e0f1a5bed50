// The database file of a project, opened for a service or a command: refused if it was lost or is damaged, created if the project is
// new, given what it lacks.
import { existsSync } from 'node:fs'
import type { Database } from 'better-sqlite3'
import type { Logger } from 'pino'
import type { Config } from '../../config/config.js'
import { ConfigError } from '../../errors/errors.js'
import { newDocumentId } from '../../model/document-id.js'
import type { Model } from '../../model/types.js'
import { makePrivateFolder, openSqlite, throughSchemaChanges } from './connection.js'
import { quickCheck } from './file/quick-check.js'
import { leaveTrace, tracedDatabase, traceOf } from './file/trace.js'
import { findSchemaMismatches } from './schema-mismatches.js'
import { isUnprepared, prepareDatabase } from './sync-schema.js'

type Log = Pick<Logger, 'info' | 'warn'>

/** Loads a project's seed into its new database, inside the transaction that creates the tables. */
export type FillDatabase = (connection: Database, now: Date) => Promise<void>

/**
 * Refuses a project whose database is not there although the project had one. `sign`: what else says so.
 * @throws ConfigError with a sentence that says what to do
 */
export function refuseLostDatabase(config: Config, sign: string | null = null): void {
  const { filename } = config.database
  if (config.mayBegin || existsSync(filename)) return
  const traced = tracedDatabase(filename, config.folder)
  const reason = traced === filename ? 'there was one' : traced !== null ? `this project's is at ${traced}` : (config.startedBefore ?? sign)
  if (reason !== null) throw new ConfigError(lost(`There is no database at ${filename}, but ${reason}`, config))
}

const lost = (what: string, { folder }: Config): string =>
  `${what}. Put it back, or say where it is with DATABASE_FILENAME; to begin with an empty one: octavo start ${folder} --new`

/**
 * Opens the database. A new one gets its tables, its first rows and the content of the project's `seed` folder, all or nothing; an
 * old one what it lacks.
 * @throws ConfigError with a sentence where it was lost, is damaged or cannot be prepared
 */
export async function openProjectFile(config: Config, model: Model, logger: Log, fill: FillDatabase): Promise<Database> {
  refuseLostDatabase(config)
  const connection = openSqlite(config.database)
  try {
    makePrivateFolder(config.uploadsFolder)
    check(config, connection, logger)
    await prepare(config, connection, model, logger, fill)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

function check({ database: { filename }, limits }: Config, connection: Database, logger: Log): void {
  if (limits.checkTime === 0) return
  const { damage, checked, tables } = throughSchemaChanges(() => quickCheck(connection, limits.checkTime))
  if (damage !== null)
    throw new ConfigError(
      `The database ${filename} is damaged (${damage}). Put a backup in its place; sqlite3 ${filename} ".recover" may save what is left, and octavo doctor tells more`,
    )
  if (checked < tables)
    logger.info({ checked, tables }, 'limits.checkTime does not suffice for all tables of the database: octavo doctor checks them all')
}

async function prepare(config: Config, connection: Database, model: Model, logger: Log, fill: FillDatabase): Promise<void> {
  const { folder, database } = config
  // In this order: another process leaves the trace once the database is complete.
  if (!config.mayBegin && existsSync(traceOf(database.filename)) && throughSchemaChanges(() => isUnprepared(connection)))
    throw new ConfigError(lost(`The database ${database.filename} is empty, but it was not`, config))
  const now = new Date()
  const { isNew, added } = await prepareDatabase(connection, model, {
    first: { now, newDocumentId, locale: config.initialLocale },
    wait: config.limits.startWait,
    sessions: config.auth.jwtManagement === 'refresh',
    fill: () => fill(connection, now),
  })
  leaveTrace(database.filename, folder)
  if (isNew) return
  if (added.length > 0) logger.warn({ added }, 'the database lacked what the model has: added')
  const strangers = throughSchemaChanges(() => findSchemaMismatches(connection, model))
  if (strangers.types.length > 0)
    logger.warn({ types: strangers.types }, 'columns have other types than the model says: what they hold may be shown wrongly')
  const { columns, tables } = strangers
  if (columns.length + tables.length > 0)
    logger.warn({ columns, tables }, 'the database has columns or tables that nothing in the model has: nobody sees them')
}
