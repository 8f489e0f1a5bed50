// What a database driver provides: everything that is known of the configured database is asked of its driver.
import type { Config } from '../foundation/config/config.js'
import type { Model } from '../model/schema/types.js'
import type { CommandDatabase, Database, DatabaseHost, DatabaseLock, DatabaseView, FillDatabase } from './database.js'
import type { FileSnapshot, RowReplacement, RowSource, RowTarget } from './transfer/rows.js'

/** Reports an index before it is created: its name, how many were missing, how many of them exist now. */
export type ReportIndex = (name: string, done: number, missing: number) => void

/** What creating indexes in the background leads to: their number, or an error. */
export interface IndexingReport {
  made(indexes: number): void
  failed(error: Error): void
}

/** Writes the first rows of a new database into its empty tables. */
export type FillRows = (target: RowTarget) => Promise<void>

/** What an error of a database is about: its file, disk, permissions or locks, or the statement that was executed. */
export type DatabaseFault = 'storage' | 'statement'

/** The driver of one kind of database. What fails with a sentence for the operator throws ConfigError. */
export interface Driver {
  /** Whether there is a database, empty or not. */
  exists(config: Config): boolean
  /** The database as messages name it, without a password. */
  nameOf(config: Config): string
  /** Refuses a project whose database is missing although the project had one. `sign`: what else says so. */
  refuseLost(config: Config, sign: string | null): void
  /** Refuses a database that is empty although it had content. Called for one that is empty. */
  refuseEmptied(config: Config): void
  /** What an error is about; null if it does not come from the database, or is a ConfigError or ApiError that says so itself. */
  faultOf(error: unknown): DatabaseFault | null
  /** Opens the database of a service. */
  open(config: Config, model: Model, host: DatabaseHost): Promise<Database>
  /** Opens the database for a command that writes; prepared if the project is new. */
  openForCommand(config: Config, model: Model, fill: FillDatabase): Promise<CommandDatabase>
  /** Opens the database for a few reads. Nothing is created, nothing is left behind. */
  lookInto(config: Config): Promise<DatabaseView>
  /**
   * Opens the database for reads that all belong to one snapshot, also while a service writes. `longest`: milliseconds after which a server
   * ends a read, also if the process that asked is gone.
   */
  snapshotOf(config: Config, longest?: number): Promise<DatabaseView>
  /**
   * Opens the rows for reads that all belong to one snapshot, also while a service writes. `model`: tables and columns have its names, also
   * where the database has shorter ones. `beforeSnapshot` is called right before the snapshot is taken, which it is when the promise resolves.
   */
  rows(config: Config, model?: Model, beforeSnapshot?: () => void): Promise<RowSource>
  /** The same where the database is one file, which can be copied as it is; null on a server. */
  readonly fileSnapshot: ((config: Config, beforeSnapshot: () => void) => Promise<FileSnapshot>) | null
  /** Opens the rows to replace them; the database is prepared as for a service, and filled if the project is new. */
  replacement(config: Config, model: Model, fill: FillDatabase): Promise<RowReplacement>
  /** Opens the database to remove what Octavo has added. `actions`: those that only Octavo has. */
  leaving(config: Config, actions: readonly string[]): Promise<Leaving>
  /** Creates the missing indexes of our own. Returns how many were created. */
  createMissingIndexes(config: Config, model: Model, report: ReportIndex): Promise<number>
  /** Takes the lock by which processes that start together take turns. `wait`: milliseconds at most. */
  lock(config: Config, wait: number): Promise<DatabaseLock>
}

/** Tables whose rows are permissions, with an `action`. */
export const permissionTables = ['up_permissions', 'strapi_api_token_permissions'] as const

/** What is there. */
export interface Additions {
  /** Tables of ours, with their numbers of rows. */
  readonly tables: ReadonlyMap<string, number>
  /** Indexes of ours on Strapi's tables. */
  readonly indexes: readonly string[]
  /** Permissions for actions that only Octavo has. */
  readonly permissions: number
  /** Anything else, as the end of `Removed: …`: `the statistics of indexes`. */
  readonly others: readonly string[]
}

/** A database that Octavo leaves. */
export interface Leaving {
  /** Looks what is there. */
  find(): Promise<Additions>
  /**
   * Removes it; all at once where the database can do that. `report` receives the name of each table and index.
   * @throws ConfigError if the database is in use
   */
  remove(report: (name: string) => void): Promise<void>
  close(): Promise<void>
}
