// The one door to a project's database: which driver it is opened with is decided here.
import { existsSync } from 'node:fs'
import type { Config } from '../config/config.js'
import type { Model } from '../model/types.js'
import type { CommandDatabase, Database, DatabaseHost, DatabaseLock, DatabaseView, FillDatabase } from './database.js'
import type { Dialect } from './dialect.js'
import { firstRowsOfPostgres } from './open-rows.js'
import { postgresDialect } from './postgres/dialect.js'
import {
  createPostgresIndexes,
  lockPostgres,
  lookIntoPostgres,
  openPostgresDatabase,
  openPostgresForCommand,
  placeOf,
  snapshotOfPostgres,
} from './postgres/open.js'
import { sqliteDialect } from './sqlite/dialect.js'
import {
  createSqliteIndexes,
  lockSqlite,
  lookIntoSqlite,
  openSqliteDatabase,
  openSqliteForCommand,
  snapshotOfSqlite,
} from './sqlite/open.js'
import { refuseLostDatabase } from './sqlite/project-file.js'

/** The dialect of the configured database. */
export const dialectOf = ({ database }: Config): Dialect => (database.client === 'postgres' ? postgresDialect : sqliteDialect)

/** Whether there is a database, empty or not. */
export const databaseExists = ({ database }: Config): boolean => database.client !== 'sqlite' || existsSync(database.filename)

/**
 * Opens the database of a service.
 * @throws ConfigError with a sentence if it was lost, is damaged or cannot be prepared
 */
export const openDatabase = (config: Config, model: Model, host: DatabaseHost): Promise<Database> =>
  config.database.client === 'postgres'
    ? openPostgresDatabase(config, model, host, firstRowsOfPostgres(model, config.initialLocale, host.fill))
    : openSqliteDatabase(config, model, host)

/** Opens the database for a command that writes; created if the project is new. @throws ConfigError as `openDatabase` */
export const openForCommand = (config: Config, model: Model, fill: FillDatabase): Promise<CommandDatabase> =>
  config.database.client === 'postgres'
    ? openPostgresForCommand(config, model, firstRowsOfPostgres(model, config.initialLocale, fill))
    : openSqliteForCommand(config, model, fill)

/** Opens the database for a few reads. Nothing is created, nothing is left behind. */
export const lookInto = async (config: Config): Promise<DatabaseView> =>
  config.database.client === 'postgres' ? lookIntoPostgres(config) : lookIntoSqlite(config)

/** Opens the database for reads that all belong to one snapshot, also while a service writes. */
export const snapshotOf = async (config: Config): Promise<DatabaseView> =>
  config.database.client === 'postgres' ? snapshotOfPostgres(config) : snapshotOfSqlite(config)

/** Creates the missing indexes of our own, and reports each before it starts. Returns how many were created. */
export const createMissingIndexes = async (
  config: Config,
  model: Model,
  report: (name: string, done: number, missing: number) => void,
): Promise<number> =>
  config.database.client === 'postgres' ? createPostgresIndexes(config, model, report) : createSqliteIndexes(config, model, report)

/** Takes the lock by which processes that start together take turns. `wait`: milliseconds at most. */
export const lockDatabase = async (config: Config, wait: number): Promise<DatabaseLock> =>
  config.database.client === 'postgres' ? lockPostgres(config, wait) : lockSqlite(config, wait)

/** The database as messages name it: its file, or its server and name. */
export const nameOfDatabase = ({ database }: Config): string => (database.server === null ? database.filename : placeOf(database.server))

/**
 * Refuses a project whose database is missing although the project had one. `sign`: what else says so.
 * @throws ConfigError with a sentence that says what to do
 */
export const refuseLost = (config: Config, sign: string | null): void => {
  if (config.database.client === 'sqlite') refuseLostDatabase(config, sign)
}
