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

/** Lends a connection: a dedicated one, or one of a pool with short waits. */
export type Lend<Client> = <Result>(work: (client: Client) => Promise<Result>) => Promise<Result>

/** A reachable server. `small`: the pool for essential statements. */
export interface ServerConnection<Pool> {
  readonly settings: ServerSettings
  readonly small: Pool
  close(): Promise<void>
}

export interface ServerPreparation {
  /** Milliseconds to wait for another process preparing the same database. */
  readonly wait: number
  /** True if this service issues sessions: their table then gets the columns missing from older versions of Strapi. */
  readonly sessions: boolean
  fill: WriteFirstRows
}

/** The parts of a service's database that depend on the server. */
export interface ServiceParts extends Pick<Database, 'main' | 'commits' | 'names' | 'applyChange' | 'checkSteps' | 'describeSteps'> {
  readonly reads: ServerReads
  readonly writes: ServerWrites
  /** Null: no replicas. */
  replicas(): ReplicaActivity | null
}

export interface ServiceOptions<Client, Reached> {
  readonly config: Config
  readonly reached: Reached
  readonly lend: Lend<Client>
  readonly options: { readonly reads: ReadOptions; readonly writes: WriteOptions }
  readonly logger: Logger
  readonly opened: Pick<Closers, 'add'>
  failed(error: Error): void
}

export interface ServerKind<Client, Pool, Reached extends ServerConnection<Pool>> {
  /** Scheme of displayed URLs. */
  readonly scheme: string
  /** Connects to the server. `name`: its name in errors. @throws ConfigError */
  connect(settings: ServerSettings, failed?: (error: Error) => void, name?: string): Promise<Reached>
  /** @throws ConfigError if connections do not use the configured schema */
  checkSchema(client: Client, settings: ServerSettings): Promise<void>
  openIndexPool(settings: ServerSettings): { readonly pool: Pool; close(): Promise<void> }
  activity(pool: Pool): ReturnType<ServerReads['activity']>
  /** Runs work on a free connection. `milliseconds`: time limit, after which it is cancelled; none by default. */
  lend<Result>(pool: Pool, work: (client: Client) => Promise<Result>, milliseconds?: number): Promise<Result>
  /** Takes a connection out of a pool; `end` closes it. */
  take(pool: Pool): Promise<{ readonly client: Client; end(): void }>
  query(client: Client, text: string): Promise<readonly (readonly unknown[])[]>
  createMain(lend: Lend<Client>, reached: Reached, failed?: (error: Error) => void): MainConnection
  isUnprepared(client: Client): Promise<boolean>
  inspect(client: Client): Inspection
  findMismatches(client: Client, model: Model): Promise<SchemaMismatches>
  readDeclaredColumns(client: Client): Promise<DeclaredColumn>
  /** Begins a snapshot. `maxReadMs`: statement timeout on the server. */
  beginSnapshot(client: Client, maxReadMs?: number): Promise<Client>
  lockStart(client: Client, wait: number): Promise<void>
  /** Prepares the database. Column types may change. */
  prepare(reached: Reached, model: Model, preparation: ServerPreparation): Promise<Prepared & { readonly notUnique?: readonly string[] }>
  readonly createZoneTable: string
  createIndexes(pool: Pool, config: Config, model: Model, report: ReportOwnIndex, stop?: AbortSignal): Promise<number>
  readonly spans: Database['spans']
  openService(options: ServiceOptions<Client, Reached>): Promise<ServiceParts>
  openCommandWrites(options: WriteOptions, reached: Reached, lend: Lend<Client>): ServerWrites
  openSource(client: Client, name: string, close: () => Promise<void>): Promise<RowSource>
  openTarget(client: Client, name: string, close: () => Promise<void>): RowTarget
  openReplacement(client: Client, name: string, wait: number, close: () => Promise<void>): RowReplacement
  /** Shows the model's full names for tables and columns that the database truncates. */
  withModelNames<Rows extends Pick<RowSource, 'tables'> & Partial<Pick<RowSource, 'lastNumbers'> & Pick<RowTarget, 'references'>>>(
    rows: Rows,
    model: Model,
  ): Rows
  readonly uninstall: UninstallParts
}

/** The server and database for display, without a password. */
export function formatServer(scheme: string, { url, host, port, name }: Pick<ServerSettings, 'url' | 'host' | 'port' | 'name'>): string {
  if (url === null) return `${host}:${port}/${name}`
  if (!URL.canParse(url)) return `${scheme}://…`
  const parsed = new URL(url)
  // An unescaped slash or at sign in a password moves parts of it to the host or path: show only the text after the last at sign.
  const isOdd = parsed.pathname.includes('@')
  return `${scheme}://${isOdd ? parsed.pathname.slice(parsed.pathname.lastIndexOf('@') + 1) : parsed.host + parsed.pathname}`
}

export const unusableServer = (name: string, error: unknown): ConfigError =>
  error instanceof ConfigError
    ? error
    : new ConfigError(`${name} cannot be used: ${(error as Error).message || (error as { code?: string }).code}.`)
