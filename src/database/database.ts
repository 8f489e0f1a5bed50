// Interfaces between the service and a database, which executes plans on threads or connections of its choice.
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

/** The tables and attributes by which a plan finds its rows, for logs. */
export interface PlanSubject {
  /** The table of the content-type. */
  readonly table: string
  /** Attributes with their operators, such as `author.name $eq`. */
  readonly filters: readonly string[]
  readonly sort: readonly string[]
  /** Attributes of the type that could be indexed for this plan. */
  readonly indexable: readonly string[]
}

/** A registered plan. */
export interface PlanHandle {
  readonly id: number
  readonly plan: ReadPlan
  subject?(): PlanSubject
}

/** A table that is looked through as a whole. */
export interface TableScan {
  readonly table: string
  /** Its rows, or somewhat more. */
  readonly rows: number
}

/** The answer to a read: JSON as UTF-8. The bytes are the caller's until it releases them. */
export interface ReadBytes {
  readonly bytes: Uint8Array
  /** Gives the memory back; may be called more than once. */
  release(): void
  /** Set where the bytes are kept in memory for others who ask for the same. */
  readonly cached?: CachedForms
}

/** Data that is cached along with the bytes of a result. */
export interface CachedForms {
  /** The `contentHash` of the bytes. */
  readonly hash: string
  /** Another form of the same bytes, such as compressed ones, by its name. */
  form(name: string): ReadBytes | undefined
  /** Keeps a copy of another form, if it has room. */
  store(name: string, form: Uint8Array): void
}

/** Null: one row was asked for and is not there. */
export type ReadResult = ReadBytes | null

/** The server that executes something. */
export type ServerRole = 'primary' | 'replica'

export interface ReadDatabase {
  readonly dialect: Dialect
  /** Registers a plan; executing it later only hands over values. */
  register(plan: ReadPlan): PlanHandle
  /** Forgets a plan that fell out of the cache. */
  unregister(known: PlanHandle): void
  /**
   * Executes a plan in one snapshot that includes everything acknowledged before `since` (`elapsed`; default: this call). If `isGone`
   * returns true, the read is not started, or is cancelled. `executing` is called with the role of each server that starts to execute it,
   * if there are several; the cache does not pass it on. @throws ApiError 503 if too many reads wait or one takes too long, 400 if the
   * result exceeds its limit, 499 if the client is gone.
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

/** Small statements on the service's own connection, apart from the reads of content. */
export interface MainConnection {
  /** True for a server. For a file, latency measures the event loop rather than the database. */
  readonly isRemote: boolean
  /**
   * True when anything was committed, here or by another process, since the last call that said so. Callers share the look of a moment
   * after they called.
   */
  changed(): Promise<boolean>
  rows<Row>(query: RawBuilder<unknown>): Promise<readonly Row[]>
}

/** Reads rows: the service's own connection, or a transaction. */
export type RowReader = Pick<MainConnection, 'rows'>

export interface ChangeResult {
  /** Rows that it changed. */
  readonly rows: number
}

/** Statements of one transaction, executed in the order of the calls. */
export interface Transaction {
  readonly dialect: Dialect
  readonly history: History
  rows<Row>(query: RawBuilder<unknown>): Promise<readonly Row[]>
  /** Need not be awaited before the next statement: the order holds, and a failure fails the transaction's `work` or its commit. */
  run(query: RawBuilder<unknown>): Promise<ChangeResult>
  /** Inserts one row and resolves to its id, which is in the column `key` (`id`). */
  insert(query: RawBuilder<unknown>, key?: string): Promise<number>
  /** Sends a statement with the next one, in this order, without waiting for its result. */
  follow(query: RawBuilder<unknown>): void
  /**
   * Waits for a check or a read that nothing more depends on. Where writes share a transaction it may resolve at once: the next of them
   * begins, and should `last` reject, all are executed again, one by one. Nothing is committed before `last` has resolved.
   */
  defer(last: Promise<unknown>): Promise<void>
  /**
   * Answers a plan as this transaction sees the database. Every other write waits for it: with `isBounded` at most `writtenBytes`.
   * @throws ApiError 400 beyond them
   */
  read(known: PlanHandle, values: readonly unknown[], isBounded?: boolean): Promise<ReadResult>
}

export interface WriteDatabase {
  /**
   * Runs `work` in one transaction and commits when it resolves; rolls back and rejects when it rejects. Transactions run
   * one after the other.
   * `change`: the last change of the model that its statements were made for; undefined: they depend on no model.
   * @throws ApiError 503 when too many wait, one takes too long, or the database is locked or full; or when a change of the model that
   * moves content follows `change`, or is under way.
   */
  transaction<Result>(work: (transaction: Transaction) => Promise<Result>, change?: number): Promise<Result>
  /** Registers a plan for `Transaction.read`. */
  register(plan: ReadPlan): PlanHandle
  /** Forgets a plan that fell out of the cache. */
  unregister(known: PlanHandle): void
  /** A single-statement transaction that writes to no document; it uses the same queue and one message. */
  run(query: RawBuilder<unknown>): Promise<void>
  close(): Promise<void>
}

/** Loads a project's seed into its new database, inside the transaction that creates the tables. */
export type FillDatabase = (connection: Connection, now: Date) => Promise<void>

export interface DatabaseHost {
  readonly logger: Logger
  /** Signs addresses of files in results; null: all files are public. */
  readonly signing: Signing | null
  readonly fill: FillDatabase
}

/** A database as a service uses it. */
export interface Database {
  readonly reads: ReadDatabase
  readonly writes: WriteDatabase
  readonly main: MainConnection
  /** Commits of all processes; null: the database cannot report them in time. */
  readonly commits: CommitWatch | null
  /** The names that it gives to tables and columns. */
  readonly names: DatabaseNames
  /** Ranges of values per attribute type, where a column does not hold all of them. */
  readonly spans: ColumnSpans
  /** Adds the tables and columns that another model needs, and starts to create its indexes. Removes and changes nothing. */
  addMissing(model: Model): Promise<void>
  /**
   * Carries out a change of the model. Resolves to false, and changes nothing, where `work.isOutdated` selects a row. Reads and writes of
   * documents must not be under way.
   * @throws ConfigError, ApiError 503; where all is one transaction, nothing has happened then
   */
  applyChange(work: ModelWork): Promise<boolean>
  /**
   * Checks before a change that no other connection uses its tables, and that they hold the columns that it adds. Null where all steps of a
   * change are one transaction with the statement that makes it. @throws ApiError 503, or the error of the server
   */
  readonly checkSteps: ((steps: readonly PlanStep[]) => Promise<void>) | null
  /** The SQL of steps for readers, each with a list of statements; what the service computes is a comment. */
  describeSteps(steps: readonly PlanStep[]): Promise<readonly (readonly string[])[]>
  mismatches(model: Model): Promise<SchemaMismatches>
  /** The tables that a statement looks through as a whole; null: the database does not say so at once. */
  readonly tableScans: ((statement: Statement) => readonly TableScan[]) | null
  activity(): DatabaseActivity
  /** Null while the database can be trusted; otherwise the problem as a sentence for the operator. */
  trouble(): string | null
  /** Closes connections and threads; writes that were begun are finished first. */
  close(): Promise<void>
}

/** A database for a command that reads and writes a few rows, possibly while services are running. */
export type CommandDatabase = Pick<Database, 'main' | 'writes' | 'close'>

export interface Inspection {
  /** The tables that exist. */
  tables(): Promise<{ has(table: string): boolean; readonly names: readonly string[] }>
  /** Parts of the file that cannot be read; null if a server checks its files itself. */
  readonly findDamage: (() => Promise<readonly string[]>) | null
  /** Rows whose foreign keys reference rows that do not exist. */
  danglingRows(): Promise<readonly string[]>
}

/** A database that is only read. */
export interface DatabaseView extends Inspection {
  readonly main: MainConnection
  /** True if the first start of a service ended before it created the tables. */
  isEmpty(): Promise<boolean>
  mismatches(model: Model): Promise<SchemaMismatches>
  /** Declared types of columns, such as `jsonb` or `varchar(255)`; null: there is no such column. */
  declaredColumns(): Promise<DeclaredColumn>
  close(): Promise<void>
}

export type DeclaredColumn = (table: string, column: string) => string | null

/** Serializes processes that start together on one database. */
export interface DatabaseLock {
  countTokens(): Promise<number>
  release(): Promise<void>
}

/** The connections of a pool to a server. */
export interface PoolActivity {
  readonly name: 'main' | 'read' | 'write' | 'write_in_turn'
  readonly idle: number
  readonly used: number
  /** Connections at most. */
  readonly max: number
  /** Statements or transactions that wait for a connection. */
  readonly waiting: number
  /** Times since the start that a connection was waited for in vain. */
  readonly timeouts: number
  /** Times since the start that a connection was asked for, and the seconds until there was one or none could be had; together. */
  readonly waits: number
  readonly waitedSeconds: number
}

/** Distribution of reads between the primary and its replicas. */
export interface ReplicaActivity {
  /**
   * Reads since the start: on a replica; on the primary because no replica was recent enough or free; repeated on the primary after a
   * replica failed.
   */
  readonly reads: { readonly used: number; readonly fellBack: number; readonly repeated: number }
  /** The replicas, in the order of the settings: seconds since each was last recent enough to be used; 0: it is used. */
  readonly behind: readonly number[]
}

export interface DatabaseActivity {
  /** Empty for SQLite, which has no connections. */
  readonly pools: readonly PoolActivity[]
  /** Null: there are no replicas. */
  readonly replicas: ReplicaActivity | null
  /** Transactions that were begun again since the start: they conflicted with others, or lost their connection. */
  readonly retriedTransactions: number
  /** Bytes of SQLite's write-ahead log; null: a server has none that a client sees. */
  readonly walBytes: number | null
}

export interface DatabaseNames {
  readonly areCaseSensitive: boolean
  isReservedTable(name: string): boolean
  /** Names of columns that each table of it has for itself. */
  readonly reservedColumns: ReadonlySet<string>
}

/** The names of each database. */
export const databaseNames = {
  sqlite: { areCaseSensitive: false, isReservedTable: (name) => /^sqlite_/i.test(name), reservedColumns: new Set() },
  postgres: {
    areCaseSensitive: true,
    // Its catalog has names too, which differ between versions: `catalogNames` of postgres/catalog.ts.
    isReservedTable: () => false,
    reservedColumns: new Set(['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid']),
  },
  // Constraints are named like their tables, ignoring case.
  mysql: { areCaseSensitive: false, isReservedTable: () => false, reservedColumns: new Set() },
} as const satisfies Readonly<Record<string, DatabaseNames>>

/** A state of the database as a transaction left it. Only the driver that made it looks into `mark`. */
export interface DocumentState {
  /** The value of `Dialect.stateSeen` in that transaction. */
  readonly seen: string | number
  readonly mark: unknown
}

/**
 * Knowledge of a transaction about concurrent writes. Any transaction of this service or another program may write to any document, unless
 * it declares otherwise.
 */
export interface History {
  /** False if a write since `moment` is already known. */
  mayBeUnchanged(currentState: DocumentState): boolean
  /** True if only declared writes happened between `moment` and this transaction, for which `Dialect.stateSeen` returned `seen`. */
  isUnchanged(moment: DocumentState, seen: string | number): boolean
  /** The state that this transaction leaves if it is committed; it selected `seen`. */
  moment(seen: string | number): DocumentState
  /** Declares that this transaction writes to no document but the one that it is about. */
  writesOneDocumentOnly(): void
}

/** For databases without knowledge about concurrent writes. */
export const unknownHistory: History = {
  mayBeUnchanged: () => false,
  isUnchanged: () => false,
  moment: (seen) => ({ seen, mark: null }),
  writesOneDocumentOnly: () => {},
}

/** A change of the content model as a database carries it out. */
export interface ModelWork {
  readonly steps: readonly PlanStep[]
  /** The model that the steps lead to. */
  readonly model: Model
  /** Selects a row if another process has made a change in the meantime. Runs in the transaction of the first step. */
  readonly isOutdated: RawBuilder<unknown>
  /** Make the change: the last statements, in one transaction with all steps; where steps are committed one by one a single statement after the last of them. */
  readonly complete: readonly RawBuilder<unknown>[]
  /**
   * Where each step is committed separately: selects the number of finished steps as `done`, and returns the statement that records it.
   * Runs while no other process applies the same change.
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

/** Checks for a table with all of these columns; without columns, for the table. */
export async function hasColumns(database: RowReader, table: string, columns: readonly string[] = []): Promise<boolean> {
  const names = columns.length === 0 ? sql`1 as one` : sql.join(columns.map((column) => sql.id(column)))
  try {
    await database.rows(sql`select ${names} from ${sql.table(table)} where 1 = 0`)
    return true
  } catch {
    return false
  }
}
