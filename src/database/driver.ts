// The interface of a database driver: all access to the configured database starts here.
import type { Config } from '../foundation/config/config.js'
import type { Model } from '../model/schema/types.js'
import type { CommandDatabase, Database, DatabaseHost, DatabaseLock, DatabaseView, FillDatabase } from './database.js'
import type { FileSnapshot, RowReplacement, RowSource, RowTarget } from './transfer/rows.js'

/** Reports an index before it is created: its name, how many were missing, how many of them exist now. */
export type ReportIndex = (name: string, done: number, missing: number) => void

/** Receives the result of creating indexes in the background. */
export interface IndexingReport {
  created(indexes: number): void
  failed(error: Error): void
}

/** Writes the first rows of a new database into its empty tables. */
export type WriteFirstRows = (target: RowTarget) => Promise<void>

/** The subject of a database error: file, disk, permissions or locks; or the executed statement. */
export type DatabaseFault = 'storage' | 'statement'

/** The driver of one kind of database. What fails with a sentence for the operator throws ConfigError. */
export interface Driver {
  /** True also for an empty database. */
  exists(config: Config): boolean
  /** The database as messages name it, without a password. */
  getName(config: Config): string
  /** Refuses a project whose database is missing although the project had one. `sign`: what else says so. */
  refuseLost(config: Config, sign: string | null): void
  /** Refuses a database that is empty although it had content. Called for one that is empty. */
  refuseEmptied(config: Config): void
  /** Classifies an error; null: not a database error, or a ConfigError or ApiError that is self-explanatory. */
  classifyError(error: unknown): DatabaseFault | null
  /** Opens the database of a service. */
  open(config: Config, model: Model, host: DatabaseHost): Promise<Database>
  /** Opens the database for a command that writes; prepared if the project is new. */
  openForCommand(config: Config, model: Model, fill: FillDatabase): Promise<CommandDatabase>
  /** Opens the database for a few reads. Creates and leaves nothing. */
  openView(config: Config): Promise<DatabaseView>
  /**
   * Opens the database for reads that all belong to one snapshot, also while a service writes. `longest`: milliseconds after which a server
   * ends a read, also if the process that asked is gone.
   */
  openSnapshot(config: Config, longest?: number): Promise<DatabaseView>
  /**
   * Opens the rows for reads in one snapshot, also while a service writes. `model`: uses its names for tables and columns that the database
   * truncates. `beforeSnapshot` is called right before the snapshot is taken; it is taken when the promise resolves.
   */
  rows(config: Config, model?: Model, beforeSnapshot?: () => void): Promise<RowSource>
  /** The same where the database is one file, which can be copied as it is; null on a server. */
  readonly fileSnapshot: ((config: Config, beforeSnapshot: () => void) => Promise<FileSnapshot>) | null
  /** Opens the rows to replace them; the database is prepared as for a service, and filled if the project is new. */
  replacement(config: Config, model: Model, fill: FillDatabase): Promise<RowReplacement>
  /** Opens the database to remove what Octavo has added. `actions`: those that only Octavo has. */
  uninstall(config: Config, actions: readonly string[]): Promise<Uninstallation>
  /** Creates Octavo's missing indexes. Returns the number of created ones. */
  createMissingIndexes(config: Config, model: Model, report: ReportIndex): Promise<number>
  /** Takes the lock that serializes starting processes, within `wait` milliseconds. */
  lock(config: Config, wait: number): Promise<DatabaseLock>
}

/** Tables whose rows are permissions, with an `action`. */
export const permissionTables = ['up_permissions', 'strapi_api_token_permissions'] as const

export interface OctavoObjects {
  /** Octavo's tables, with their numbers of rows. */
  readonly tables: ReadonlyMap<string, number>
  /** Octavo's indexes on Strapi's tables. */
  readonly indexes: readonly string[]
  /** Permissions for actions that only Octavo has. */
  readonly permissions: number
  /** Anything else, as the end of `Removed: …`: `the statistics of indexes`. */
  readonly others: readonly string[]
}

/** A database that Octavo leaves. */
export interface Uninstallation {
  find(): Promise<OctavoObjects>
  /**
   * Removes it; all at once where the database can do that. `report` receives the name of each table and index.
   * @throws ConfigError if the database is in use
   */
  remove(report: (name: string) => void): Promise<void>
  close(): Promise<void>
}
