// Interfaces between the service and a database, which executes plans on threads or connections.
import type { Database as Connection } from 'better-sqlite3'
import { type RawBuilder, sql } from 'kysely'
import type { Logger } from 'pino'
import type { ColumnSpans } from '../model/diff/conversions.js'
import type { PlanStep } from '../model/diff/steps.js'
import type { Model } from '../model/schema/types.js'
import type { SchemaMismatches } from '../model/tables/compare-database.js'
import type { CommitWatch } from './cache/table-changes.js'
import type { Dialect } from './dialect.js'
import type { ReadPlan, Statement } from './plan.js'
import type { Signing } from './response/signed-addresses.js'

/** The table and attributes that a plan uses to find rows, for logs. */
export interface PlanSubject {
  readonly table: string
  /** Attributes with operators, such as `author.name $eq`. */
  readonly filters: readonly string[]
  readonly sort: readonly string[]
  /** Attributes of the type that an index could support. */
  readonly indexable: readonly string[]
}

export interface PlanHandle {
  readonly id: number
  readonly plan: ReadPlan
  subject?(): PlanSubject
}

export interface TableScan {
  readonly table: string
  /** Approximate number of rows. */
  readonly rows: number
}

/** Response to a read: JSON as UTF-8. The bytes remain valid until released. */
export interface ReadBytes {
  readonly bytes: Uint8Array
  /** Releases the memory. Idempotent. */
  release(): void
  /** Set if the bytes are cached. */
  readonly cached?: CachedForms
}

/** Data cached along with the bytes of a response. */
export interface CachedForms {
  readonly hash: string
  /** Another encoding of the same bytes, such as a compressed one, by name. */
  form(name: string): ReadBytes | undefined
  store(name: string, form: Uint8Array): void
}

/** Null: the requested row does not exist. */
export type ReadResult = ReadBytes | null

export type ServerRole = 'primary' | 'replica'

export interface ReadDatabase {
  readonly dialect: Dialect
  /** Registers a plan, so that executions only pass values. */
  register(plan: ReadPlan): PlanHandle
  /** Unregisters a plan evicted from the plan cache. */
  unregister(known: PlanHandle): void
  /**
   * Executes a plan in one snapshot that includes everything committed before `since` (`elapsed`; default: now). A read is skipped or
   * cancelled once `isGone` returns true. `executing` receives the role of each server that executes it, if there are several; cached reads
   * do not report it.
   * @throws ApiError 503 if the queue is full or the read times out, 400 if the response exceeds its limit, 499 if the client disconnected
   */
  execute(
    known: PlanHandle,
    values: readonly unknown[],
    isGone?: () => boolean,
    since?: number,
    executing?: (role: ServerRole) => void,
  ): Promise<ReadResult>
  close(): Promise<void>
}

/** Small statements on the service's main connection, separate from content reads. */
export interface MainConnection {
  /** True for a server. For a file, latency measures the event loop rather than the database. */
  readonly isRemote: boolean
  /** True if any process has committed since the last call that returned true. Concurrent calls share a check. */
  changed(): Promise<boolean>
  rows<Row>(query: RawBuilder<unknown>): Promise<readonly Row[]>
}

/** Reads rows: the main connection or a transaction. */
export type RowReader = Pick<MainConnection, 'rows'>

export interface ChangeResult {
  readonly rows: number
}

/** A transaction. Statements are executed in call order. */
export interface Transaction {
  readonly dialect: Dialect
  readonly history: History
  rows<Row>(query: RawBuilder<unknown>): Promise<readonly Row[]>
  /** Need not be awaited before the next statement: order is preserved, and a failure fails the transaction's `work` or its commit. */
  run(query: RawBuilder<unknown>): Promise<ChangeResult>
  /** Inserts a row and resolves to its id, from the column `key` (default `id`). */
  insert(query: RawBuilder<unknown>, key?: string): Promise<number>
  /** Sends a statement along with the next one, without waiting for its result. */
  follow(query: RawBuilder<unknown>): void
  /**
   * Waits for a final check or read. Under group commit it may resolve at once, so that the next transaction begins; if `last` rejects, the
   * transactions are retried one by one. Nothing is committed before `last` has resolved.
   */
  defer(last: Promise<unknown>): Promise<void>
  /** Executes a plan in this transaction. `isBounded` limits the response to `writtenBytes`. @throws ApiError 400 beyond that */
  read(known: PlanHandle, values: readonly unknown[], isBounded?: boolean): Promise<ReadResult>
}

export interface WriteDatabase {
  /**
   * Runs `work` in a transaction that commits when it resolves and rolls back when it rejects. Transactions are serialized. `change`: the
   * model change that its statements were built for; undefined: independent of the model.
   * @throws ApiError 503 if the queue is full, the transaction times out, the database is locked or full, or a model change that moves
   * content is in progress or later than `change`
   */
  transaction<Result>(work: (transaction: Transaction) => Promise<Result>, change?: number): Promise<Result>
  register(plan: ReadPlan): PlanHandle
  unregister(known: PlanHandle): void
  /** Executes a single-statement transaction that writes to no document, in the same queue. */
  run(query: RawBuilder<unknown>): Promise<void>
  close(): Promise<void>
}

/** Loads a project's seed into a new database, within the transaction that creates the tables. */
export type FillDatabase = (connection: Connection, now: Date) => Promise<void>

export interface DatabaseHost {
  readonly logger: Logger
  /** Signs file URLs in responses; null: all files are public. */
  readonly signing: Signing | null
  readonly fill: FillDatabase
}

export interface Database {
  readonly reads: ReadDatabase
  readonly writes: WriteDatabase
  readonly main: MainConnection
  /** Tracks commits of all processes; null: the database cannot report them in time. */
  readonly commits: CommitWatch | null
  readonly names: DatabaseNames
  /** Value ranges by attribute type, where a column cannot hold every value. */
  readonly spans: ColumnSpans
  /** Adds missing tables and columns for a model and starts to create its indexes. Removes and changes nothing. */
  addMissing(model: Model): Promise<void>
  /**
   * Applies a model change. Resolves to false, without changes, if `work.isOutdated` selects a row. No document may be read or written
   * concurrently.
   * @throws ConfigError, or ApiError 503; rolled back if all steps are one transaction
   */
  applyChange(work: ModelWork): Promise<boolean>
  /**
   * Checks that no other connection uses the affected tables and that they have room for the new columns. Null if a change is one
   * transaction.
   * @throws ApiError 503, or the server's error
   */
  readonly checkSteps: ((steps: readonly PlanStep[]) => Promise<void>) | null
  /** The SQL of each step, for display; work done by the service is a comment. */
  describeSteps(steps: readonly PlanStep[]): Promise<readonly (readonly string[])[]>
  mismatches(model: Model): Promise<SchemaMismatches>
  /** Finds full table scans in a statement's query plan; null: not available synchronously. */
  readonly tableScans: ((statement: Statement) => readonly TableScan[]) | null
  activity(): DatabaseActivity
  /** Null while the database can be trusted; otherwise the problem as a sentence for the operator. */
  trouble(): string | null
  /** Finishes pending writes, then closes all connections and threads. */
  close(): Promise<void>
}

/** A database for a command that reads and writes a few rows, possibly while services are running. */
export type CommandDatabase = Pick<Database, 'main' | 'writes' | 'close'>

export interface Inspection {
  tables(): Promise<{ has(table: string): boolean; readonly names: readonly string[] }>
  /** Finds damaged parts of the file; null: a server checks its own files. */
  readonly findDamage: (() => Promise<readonly string[]>) | null
  /** Rows with dangling foreign keys. */
  danglingRows(): Promise<readonly string[]>
}

export interface DatabaseView extends Inspection {
  readonly main: MainConnection
  /** True if the first start of a service was interrupted before it created the tables. */
  isEmpty(): Promise<boolean>
  mismatches(model: Model): Promise<SchemaMismatches>
  /** Declared column types, such as `jsonb` or `varchar(255)`; null: no such column. */
  declaredColumns(): Promise<DeclaredColumn>
  close(): Promise<void>
}

export type DeclaredColumn = (table: string, column: string) => string | null

/** Lock that serializes processes starting on the same database. */
export interface DatabaseLock {
  countTokens(): Promise<number>
  release(): Promise<void>
}

export interface PoolActivity {
  readonly name: 'main' | 'read' | 'write' | 'write_in_turn'
  readonly idle: number
  readonly used: number
  readonly max: number
  /** Statements or transactions waiting for a connection. */
  readonly waiting: number
  /** Acquisitions that timed out since the start. */
  readonly timeouts: number
  /** Acquisitions since the start, and their total wait in seconds, including failed ones. */
  readonly waits: number
  readonly waitedSeconds: number
}

/** Distribution of reads between the primary and its replicas. */
export interface ReplicaActivity {
  /** Reads since the start: on a replica; on the primary, as no replica was current or free; retried there after a replica failed. */
  readonly reads: { readonly used: number; readonly fellBack: number; readonly repeated: number }
  /** Replication lag per replica, in configuration order: seconds since it was last current enough to use; 0: in use. */
  readonly behind: readonly number[]
}

export interface DatabaseActivity {
  /** Empty for SQLite. */
  readonly pools: readonly PoolActivity[]
  /** Null: no replicas. */
  readonly replicas: ReplicaActivity | null
  /** Transactions retried since the start, after a conflict or a lost connection. */
  readonly retriedTransactions: number
  /** Bytes of SQLite's write-ahead log; null on a server. */
  readonly walBytes: number | null
}

export interface DatabaseNames {
  readonly areCaseSensitive: boolean
  isReservedTable(name: string): boolean
  /** Names of system columns, reserved in every table. */
  readonly reservedColumns: ReadonlySet<string>
}

export const databaseNames = {
  sqlite: { areCaseSensitive: false, isReservedTable: (name) => /^sqlite_/i.test(name), reservedColumns: new Set() },
  postgres: {
    areCaseSensitive: true,
    // The catalog reserves further names, which vary by version: `catalogNames` in postgres/catalog.ts.
    isReservedTable: () => false,
    reservedColumns: new Set(['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid']),
  },
  // Constraints are named after their tables, ignoring case.
  mysql: { areCaseSensitive: false, isReservedTable: () => false, reservedColumns: new Set() },
} as const satisfies Readonly<Record<string, DatabaseNames>>

/** The database state at the end of a transaction. `mark` is private to the driver. */
export interface DocumentState {
  /** The value of `Dialect.stateSeen` in that transaction. */
  readonly seen: string | number
  readonly mark: unknown
}

/** A transaction's knowledge of concurrent writes. Unless declared otherwise, a transaction may write to any document. */
export interface History {
  /** False if a write since `currentState` is already known. */
  mayBeUnchanged(currentState: DocumentState): boolean
  /** True if all writes between `earlier` and this transaction were declared (this transaction selected `seen`). */
  isUnchanged(earlier: DocumentState, seen: string | number): boolean
  /** The state after this transaction commits, given its selected `seen`. */
  stateAfter(seen: string | number): DocumentState
  /** Declares that this transaction writes to its own document only. */
  writesOneDocumentOnly(): void
}

/** For databases that do not track concurrent writes. */
export const unknownHistory: History = {
  mayBeUnchanged: () => false,
  isUnchanged: () => false,
  stateAfter: (seen) => ({ seen, mark: null }),
  writesOneDocumentOnly: () => {},
}

export interface ModelWork {
  readonly steps: readonly PlanStep[]
  readonly model: Model
  /** Selects a row if another process has applied a change first. Runs in the transaction of the first step. */
  readonly isOutdated: RawBuilder<unknown>
  /** Statements that activate the change, in the transaction of the steps; a single statement if steps are committed separately. */
  readonly complete: readonly RawBuilder<unknown>[]
  /**
   * If steps are committed separately: selects the number of finished steps as `done`, and returns the statement that records it. Runs
   * while other processes are locked out of the change.
   */
  readonly progress: { readonly done: RawBuilder<unknown>; note(done: number): RawBuilder<unknown> }
}

/** Runs a transaction that writes to no document. */
export const serviceTransaction = <Result>(
  writer: Pick<WriteDatabase, 'transaction'>,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> =>
  writer.transaction((transaction) => {
    transaction.history.writesOneDocumentOnly()
    return work(transaction)
  })

/** True if a table exists and has all of these columns. */
export async function hasColumns(database: RowReader, table: string, columns: readonly string[] = []): Promise<boolean> {
  const names = columns.length === 0 ? sql`1 as one` : sql.join(columns.map((column) => sql.id(column)))
  try {
    await database.rows(sql`select ${names} from ${sql.table(table)} where 1 = 0`)
    return true
  } catch {
    return false
  }
}
