// The interface of a database driver, through which all access to the configured database goes.
import type { Config } from '../foundation/config/config.js'
import type { Model } from '../model/schema/types.js'
import type { CommandDatabase, Database, DatabaseHost, DatabaseLock, DatabaseView, FillDatabase } from './database.js'
import type { FileSnapshot, RowReplacement, RowSource, RowTarget } from './transfer/rows.js'

/** Called before an index is created, with its name and the numbers of existing and missing indexes. */
type ReportIndex = (name: string, done: number, missing: number) => void

export interface IndexingReport {
  created(indexes: number): void
  failed(error: Error): void
}

/** Writes the first rows of a new database into its empty tables. */
export type WriteFirstRows = (target: RowTarget) => Promise<void>

/** Origin of a database error: storage (file, disk, permissions, locks) or the executed statement. */
export type DatabaseFault = 'storage' | 'statement'

/** A database driver. Errors meant for the operator are ConfigErrors. */
export interface Driver {
  /** True also for an empty database. */
  exists(config: Config): boolean
  /** The database's name in messages, without a password. */
  getName(config: Config): string
  /** Fails if the project's database is missing although the project had one. `sign`: other evidence of that. */
  refuseLost(config: Config, sign: string | null): void
  /** Fails for an empty database that used to have content. */
  refuseEmptied(config: Config): void
  /** Classifies an error; null: not a database error, or a self-explanatory ConfigError or ApiError. */
  classifyError(error: unknown): DatabaseFault | null
  open(config: Config, model: Model, host: DatabaseHost): Promise<Database>
  /** Opens the database for a command that writes, preparing it if the project is new. */
  openForCommand(config: Config, model: Model, fill: FillDatabase): Promise<CommandDatabase>
  /** Opens the database for a few reads, without creating anything. */
  openView(config: Config): Promise<DatabaseView>
  /** Opens a snapshot for reading while services write. `longest`: the server's statement timeout in milliseconds. */
  openSnapshot(config: Config, longest?: number): Promise<DatabaseView>
  /**
   * Opens the rows in one snapshot, while services write. `model`: report its full names for tables and columns that the database
   * truncates. `beforeSnapshot` is called right before the snapshot is taken; it exists when the promise resolves.
   */
  rows(config: Config, model?: Model, beforeSnapshot?: () => void): Promise<RowSource>
  /** Opens a snapshot that can be copied as a file; null on a server. */
  readonly fileSnapshot: ((config: Config, beforeSnapshot: () => void) => Promise<FileSnapshot>) | null
  /** Opens the rows for replacement, preparing the database as for a service, and filling it if the project is new. */
  replacement(config: Config, model: Model, fill: FillDatabase): Promise<RowReplacement>
  /** Opens the database to remove Octavo's additions. `actions`: actions unique to Octavo. */
  uninstall(config: Config, actions: readonly string[]): Promise<Uninstallation>
  /** Creates Octavo's missing indexes and returns their number. */
  createMissingIndexes(config: Config, model: Model, report: ReportIndex): Promise<number>
  /** Acquires the startup lock within `wait` milliseconds. */
  lock(config: Config, wait: number): Promise<DatabaseLock>
}

/** Permission tables with a column `action`. */
export const permissionTables = ['up_permissions', 'strapi_api_token_permissions'] as const

export interface OctavoObjects {
  /** Row counts of Octavo's tables. */
  readonly tables: ReadonlyMap<string, number>
  /** Octavo's indexes on Strapi's tables. */
  readonly indexes: readonly string[]
  /** Number of permissions for actions unique to Octavo. */
  readonly permissions: number
  /** Anything else, as the end of `Removed: …`, such as `the statistics of indexes`. */
  readonly others: readonly string[]
}

export interface Uninstallation {
  find(): Promise<OctavoObjects>
  /** Removes all objects, atomically if possible. `report` receives their names. @throws ConfigError if the database is in use */
  remove(report: (name: string) => void): Promise<void>
  close(): Promise<void>
}
