// The parts of a server driver that differ between PostgreSQL and MySQL or MariaDB.
import type { Logger } from 'pino'
import type { Config } from '../../foundation/config/config.js'
import type { ServerSettings } from '../../foundation/config/database.js'
import { ConfigError } from '../../foundation/errors/errors.js'
import type { Closers } from '../../foundation/runtime/shutdown.js'
import type { Model } from '../../model/schema/types.js'
import type { Prepared, SchemaMismatches } from '../../model/tables/compare-database.js'
import type { ReportOwnIndex } from '../../model/tables/own-indexes.js'
import type { Database, DeclaredColumn, Inspection, MainConnection, ReplicaActivity } from '../database.js'
import type { WriteFirstRows } from '../driver.js'
import type { RowReplacement, RowSource, RowTarget } from '../transfer/rows.js'
import type { ReadOptions, ServerReads, WriteOptions } from './connections.js'
import type { UninstallParts } from './uninstall.js'
import type { ServerWrites } from './writes.js'

/** Lends a connection: the only one, or one of a pool whose connections are free soon. */
export type Lend<Client> = <Result>(work: (client: Client) => Promise<Result>) => Promise<Result>

/** A server that can be reached. `small`: a pool for what everything depends on. */
export interface ServerConnection<Pool> {
  readonly settings: ServerSettings
  readonly small: Pool
  close(): Promise<void>
}

export interface ServerPreparation {
  /** Milliseconds to wait for another process that prepares the same database. */
  readonly wait: number
  /** Sessions are issued here, so their table gets the columns that an older Strapi did not make. */
  readonly sessions: boolean
  /** Fills a new database, in one transaction. */
  fill: WriteFirstRows
}

/** The parts of a service's database that depend on the kind of the server. */
export interface ServiceParts extends Pick<Database, 'main' | 'commits' | 'names' | 'applyChange' | 'checkSteps' | 'describeSteps'> {
  readonly reads: ServerReads
  readonly writes: ServerWrites
  /** Null: there are no replicas. */
  replicas(): ReplicaActivity | null
}

export interface ServiceOptions<Client, Reached> {
  readonly config: Config
  readonly reached: Reached
  readonly lend: Lend<Client>
  readonly options: { readonly reads: ReadOptions; readonly writes: WriteOptions }
  readonly logger: Logger
  readonly opened: Pick<Closers, 'add'>
  /** Receives losses of connections. */
  failed(error: Error): void
}

export interface ServerKind<Client, Pool, Reached extends ServerConnection<Pool>> {
  /** The beginning of addresses that are shown. */
  readonly scheme: string
  /** Reaches the server. `name`: its name in errors. @throws ConfigError */
  connect(settings: ServerSettings, failed?: (error: Error) => void, name?: string): Promise<Reached>
  /** @throws ConfigError if connections do not use the schema of the settings */
  checkSchema(client: Client, settings: ServerSettings): Promise<void>
  /** Opens a pool for creating indexes. */
  openIndexPool(settings: ServerSettings): { readonly pool: Pool; close(): Promise<void> }
  activity(pool: Pool): ReturnType<ServerReads['activity']>
  /** Runs work on a free connection. `milliseconds`: it is cancelled after them; absent: the work may take any time. */
  lend<Result>(pool: Pool, work: (client: Client) => Promise<Result>, milliseconds?: number): Promise<Result>
  /** Takes a connection out of a pool until `end`, which closes it. */
  take(pool: Pool): Promise<{ readonly client: Client; end(): void }>
  /** The rows of a statement without values. */
  query(client: Client, text: string): Promise<readonly (readonly unknown[])[]>
  createMain(lend: Lend<Client>, reached: Reached, failed?: (error: Error) => void): MainConnection
  isUnprepared(client: Client): Promise<boolean>
  inspect(client: Client): Inspection
  findMismatches(client: Client, model: Model): Promise<SchemaMismatches>
  readDeclaredColumns(client: Client): Promise<DeclaredColumn>
  /** Begins a snapshot. `maxReadMs`: after them the server ends a read. */
  beginSnapshot(client: Client, maxReadMs?: number): Promise<Client>
  /** Takes the lock of starting processes. */
  lockStart(client: Client, wait: number): Promise<void>
  /** Prepares the database; types of columns may be others afterwards. */
  prepare(reached: Reached, model: Model, preparation: ServerPreparation): Promise<Prepared & { readonly notUnique?: readonly string[] }>
  /** The statement that creates the table of the time zone. */
  readonly createZoneTable: string
  createIndexes(pool: Pool, config: Config, model: Model, report: ReportOwnIndex, stop?: AbortSignal): Promise<number>
  readonly spans: Database['spans']
  openService(options: ServiceOptions<Client, Reached>): Promise<ServiceParts>
  openCommandWrites(options: WriteOptions, reached: Reached, lend: Lend<Client>): ServerWrites
  openSource(client: Client, name: string, close: () => Promise<void>): Promise<RowSource>
  openTarget(client: Client, name: string, close: () => Promise<void>): RowTarget
  openReplacement(client: Client, name: string, wait: number, close: () => Promise<void>): RowReplacement
  /** The rows under the model's names, where the database has shorter ones. */
  withModelNames<Rows extends Pick<RowSource, 'tables'> & Partial<Pick<RowSource, 'lastNumbers'> & Pick<RowTarget, 'references'>>>(
    rows: Rows,
    model: Model,
  ): Rows
  readonly uninstall: UninstallParts
}

/** The server and database as they may be shown: without a password. */
export function formatServer(scheme: string, { url, host, port, name }: Pick<ServerSettings, 'url' | 'host' | 'port' | 'name'>): string {
  if (url === null) return `${host}:${port}/${name}`
  if (!URL.canParse(url)) return `${scheme}://…`
  const parsed = new URL(url)
  // A password with an unescaped slash or at sign ends in the host or the path: nothing before the last at sign is shown.
  const isOdd = parsed.pathname.includes('@')
  return `${scheme}://${isOdd ? parsed.pathname.slice(parsed.pathname.lastIndexOf('@') + 1) : parsed.host + parsed.pathname}`
}

/** The error of a server that cannot be used. */
export const unusableServer = (name: string, error: unknown): ConfigError =>
  error instanceof ConfigError
    ? error
    : new ConfigError(`${name} cannot be used: ${(error as Error).message || (error as { code?: string }).code}.`)
