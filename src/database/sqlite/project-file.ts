// A project's database file: refused if it was lost or is damaged, created if the project is new, prepared for the model. A marker file
// next to a complete database makes its loss detectable.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Database } from 'better-sqlite3'
import type { Logger } from 'pino'
import type { Config } from '../../foundation/config/config.js'
import { makeUploadsFolder } from '../../foundation/config/storage.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import { commandLine } from '../../foundation/runtime/terminal.js'
import { newDocumentId } from '../../model/schema/names.js'
import type { Model } from '../../model/schema/types.js'
import { warnOfDifferences } from '../../model/tables/compare-database.js'
import type { FillDatabase } from '../database.js'
import { startTimeoutMs } from '../limits.js'
import { findSchemaMismatches } from './catalog.js'
import { openSqlite, ownersFolder, retrySchemaChanges } from './connection.js'
import { quickCheck } from './file/quick-check.js'
import { isUnprepared, prepareDatabase } from './prepare-database.js'

type StartLog = Pick<Logger, 'info' | 'warn'>

/** Fails if a project's database is missing although it had one. `sign`: other evidence of that. @throws ConfigError with a remedy */
export function refuseLostDatabase(config: Config, sign: string | null = null): void {
  const { filename } = config.database
  if (config.allowsNewDatabase || existsSync(filename)) return
  const traced = findMarkedDatabase(filename, config.folder)
  const reason =
    traced === filename
      ? 'there used to be one'
      : traced !== null
        ? `the database of this project is at ${traced}`
        : (config.startedBefore ?? sign)
  if (reason !== null) throw new ConfigError(lost(`There is no database at ${filename}, but ${reason}`, config))
}

/** Fails for an empty database that used to have content. @throws ConfigError */
export function refuseEmptiedDatabase(config: Config): void {
  const { filename } = config.database
  if (!config.allowsNewDatabase && existsSync(markerFile(filename))) throw new ConfigError(emptied(config))
}

const emptied = (config: Config): string => lost(`The database ${config.database.filename} is empty, but it had content`, config)

const lost = (what: string, { folder }: Config): string =>
  `${what}. Restore it, or set DATABASE_FILENAME to its path; to start with an empty one: ${commandLine('start --new', folder)}`

/**
 * Opens the database. A new one gets its tables, first rows and the content of the project's `seed` folder in one transaction; an existing
 * one gets missing tables and columns.
 * @throws ConfigError if it was lost, is damaged or cannot be prepared
 */
export async function openProjectFile(config: Config, model: Model, logger: StartLog, fill: FillDatabase): Promise<Database> {
  refuseLostDatabase(config)
  const connection = openSqlite(config.database)
  try {
    await makeUploadsFolder(config.uploadsFolder, ownersFolder)
    check(config, connection, logger)
    await prepare(config, connection, model, logger, fill)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

function check({ database: { filename }, limits, folder }: Config, connection: Database, logger: StartLog): void {
  if (limits.checkTime === 0) return
  const { damage, checked, tables } = retrySchemaChanges(() => quickCheck(connection, limits.checkTime))
  if (damage !== null)
    throw new ConfigError(
      `The database ${filename} is damaged (${damage}). Restore a backup; sqlite3 ${filename} ".recover" may rescue some data, and ${commandLine('doctor', folder)} shows details`,
    )
  if (checked < tables)
    logger.info(
      { checked, tables },
      `limits.checkTime was too short to check all tables; ${commandLine('doctor', folder)} checks all of them`,
    )
}

async function prepare(config: Config, connection: Database, model: Model, logger: StartLog, fill: FillDatabase): Promise<void> {
  const { folder, database } = config
  // In this order: another process writes the marker only once the database is complete.
  if (!config.allowsNewDatabase && existsSync(markerFile(database.filename)) && retrySchemaChanges(() => isUnprepared(connection)))
    throw new ConfigError(emptied(config))
  const now = new Date()
  const { isNew, added } = await prepareDatabase(connection, model, {
    first: { now, newDocumentId, locale: config.initialLocale },
    wait: startTimeoutMs,
    sessions: config.auth.jwtManagement === 'refresh',
    fill: () => fill(connection, now),
  })
  writeMarker(database.filename, folder)
  if (!isNew)
    warnOfDifferences(
      logger,
      added,
      retrySchemaChanges(() => findSchemaMismatches(connection, model)),
    )
}

const ending = '.octavo'
const privateFile = 0o600

/** Path of the marker file, which records that the database at `filename` was complete once. */
export const markerFile = (filename: string): string => `${filename}${ending}`

/** Writes the marker file unless it exists. Failure is ignored. */
function writeMarker(filename: string, project: string): void {
  const path = markerFile(filename)
  if (existsSync(path)) return
  const about = 'Octavo has served the database beside this file. Where that is gone, a start ends instead of making an empty one.'
  try {
    writeFileSync(path, `${JSON.stringify({ project, about }, null, 2)}\n`, { mode: privateFile, flag: 'wx' })
  } catch {
    // The folder is read-only, or another process was faster.
  }
}

/** The project's database according to marker files: the one at `filename`, or another in the same folder; null without a marker. */
function findMarkedDatabase(filename: string, project: string): string | null {
  if (existsSync(markerFile(filename))) return filename
  for (const folder of new Set([dirname(filename), join(project, '.tmp')])) {
    const traces = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(ending)) : []
    const own = traces.find((name) => projectOf(join(folder, name)) === project)
    if (own !== undefined) return join(folder, basename(own, ending))
  }
  return null
}

function projectOf(path: string): unknown {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as { readonly project?: unknown }).project
  } catch {
    return null
  }
}
