// What the rest of the service sees of a database: it executes plans. Where and on which thread is its own affair.
import type { Database as Connection } from 'better-sqlite3'
import { type RawBuilder, sql } from 'kysely'
import type { Logger } from 'pino'
import type { ColumnSpans } from '../model/diff/conversions.js'
import type { ReversingStep } from '../model/diff/reversing.js'
import type { PlanStep } from '../model/diff/steps.js'
import type { Model } from '../model/schema/types.js'
import type { SchemaMismatches } from '../model/tables/mismatches.js'
import type { CommitWatch } from './cache/table-changes.js'
import type { Dialect } from './dialect.js'
import type { ReadPlan, Statement } from './plan.js'
import type { Signing } from './response/signed-addresses.js'

/** What the rows of a plan are found by, as names of the model. */
export interface PlanSubject {
  /** The table of the content-type. */
  readonly table: string
  /** Attributes with their operators, such as `author.name $eq`. */
  readonly filters: readonly string[]
  readonly sort: readonly string[]
  /** The attributes of the type itself that an index of ours would help to find or to sort by. */
  readonly indexable: readonly string[]
}

/** A plan that a database has been told about once. */
export interface PlanHandle {
  readonly id: number
  readonly plan: ReadPlan
  /** What its rows are found by, for the log. */
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
  readonly kept?: KeptForms
}

/** What is kept along with the bytes of an answer. */
export interface KeptForms {
  /** The `contentHash` of the bytes. */
  readonly hash: string
  /** Another form of the same bytes, such as compressed ones, by its name. */
  form(name: string): ReadBytes | undefined
  /** Keeps a copy of another form, if it has room. */
  keep(name: string, form: Uint8Array): void
}

/** Null: one row was asked for and is not there. */
export type ReadAnswer = ReadBytes | null

/** The server that executes something. */
export type ServerRole = 'primary' | 'replica'

export interface ReadDatabase {
  readonly dialect: Dialect
  /** Registers a plan; executing it later only hands over values. */
  register(plan: ReadPlan): PlanHandle
  /** Forgets a plan that fell out of the cache. */
  unregister(known: PlanHandle): void
  /**
   * Executes a plan in one snapshot, which contains whatever was acknowledged before `since` (`elapsed`; before this call where it is absent).
   * A read for which `isGone` returns true is not begun, and ended where it is under way.
   * `executing` is called with the role of each server that begins to execute it, where there are several; the cache of answers does not pass it on.
   * @throws ApiError 503 when too many reads wait or one takes too long, 400 when the answer exceeds its limit, 499 when its
   * client is gone.
   */
  execute(
    known: PlanHandle,
    values: readonly unknown[],
    isGone?: () => boolean,
    since?: number,
    executing?: (role: ServerRole) => void,
  ): Promise<ReadAnswer>
  close(): Promise<void>
}

/** Small statements on the service's own connection, apart from the reads of content. */
export interface MainConnection {
  /** Whether statements go to a server. Of a file, the time of a look says more about the event loop than about the database. */
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

/** What a statement did. */
export interface Changed {
  /** Rows that it changed. */
  readonly rows: number
}

/** Statements inside one transaction, in the order in which they were asked for. */
export interface Transaction {
  readonly dialect: Dialect
  readonly history: History
  rows<Row>(query: RawBuilder<unknown>): Promise<readonly Row[]>
  /** Need not be awaited before the next statement: the order holds, and a failure fails the transaction's `work` or its commit. */
  run(query: RawBuilder<unknown>): Promise<Changed>
  /** Inserts one row and resolves to its id, which is in the column `key` (`id`). */
  insert(query: RawBuilder<unknown>, key?: string): Promise<number>
  /** A statement that nobody waits for: it is sent along with the next one, in this order. */
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
  read(known: PlanHandle, values: readonly unknown[], isBounded?: boolean): Promise<ReadAnswer>
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
  /** Registers a plan for `Transaction.read`; the thread is told about it once. */
  register(plan: ReadPlan): PlanHandle
  /** Forgets a plan that fell out of the cache. */
  unregister(known: PlanHandle): void
  /** One statement that is a transaction of its own and writes to no document; waits in the same line, and is sent in one piece. */
  run(query: RawBuilder<unknown>): Promise<void>
  close(): Promise<void>
}

/** Loads a project's seed into its new database, inside the transaction that creates the tables. */
export type FillDatabase = (connection: Connection, now: Date) => Promise<void>

/** What a service gives its database. */
export interface DatabaseHost {
  readonly logger: Logger
  /** How answers sign the addresses of files; null: everyone may read them. */
  readonly signing: Signing | null
  readonly fill: FillDatabase
}

/** A database as a service uses it. */
export interface Database {
  readonly reads: ReadDatabase
  readonly writes: WriteDatabase
  readonly main: MainConnection
  /** What is known of all commits; null where it cannot be known in time. */
  readonly commits: CommitWatch | null
  /** The names that it gives to tables and columns. */
  readonly names: DatabaseNames
  /** What columns hold of types of which they do not hold every value. */
  readonly spans: ColumnSpans
  /**
   * Adds the tables and columns that another model needs, and begins to create its indexes. Nothing is removed; what is there stays as it
   * is.
   */
  fit(model: Model): Promise<void>
  /**
   * Carries out a change of the model. Resolves to false, and changes nothing, where `work.isOutdated` selects a row. Reads and writes of
   * documents must not be under way.
   * @throws ConfigError, ApiError 503; where all is one transaction, nothing has happened then
   */
  carryOut(work: ModelWork): Promise<boolean>
  /**
   * Takes back a change that was given up. Null where all steps of a change are one transaction with the statement that makes it.
   */
  readonly takeBack: ((work: TakingBack) => Promise<boolean>) | null
  /** The SQL of steps for readers, each with a list of statements; what the service computes is a comment. */
  describeSteps(steps: readonly PlanStep[]): Promise<readonly (readonly string[])[]>
  mismatches(model: Model): Promise<SchemaMismatches>
  /** The tables that a statement looks through as a whole; null: the database does not say so at once. */
  readonly tableScans: ((statement: Statement) => readonly TableScan[]) | null
  /** What it is busy with. */
  activity(): DatabaseActivity
  /** Null while the database can be trusted; otherwise what is wrong, as a sentence for the operator. */
  trouble(): string | null
  /** Closes connections and threads; writes that were begun are finished first. */
  close(): Promise<void>
}

/** A database as a command uses it that reads and writes a few rows, beside services that may be running. */
export type CommandDatabase = Pick<Database, 'main' | 'writes' | 'close'>

/** What a database says of itself. */
export interface Inspection {
  /** The tables that exist. */
  tables(): Promise<{ has(table: string): boolean; readonly names: readonly string[] }>
  /** Parts of the file that cannot be read; null if a server checks its files itself. */
  readonly damage: (() => Promise<readonly string[]>) | null
  /** Rows whose foreign keys reference rows that do not exist. */
  danglingRows(): Promise<readonly string[]>
}

/** A database that is only read. */
export interface DatabaseView extends Inspection {
  readonly main: MainConnection
  /** True if the first start of a service did not get as far as creating the tables. */
  isEmpty(): Promise<boolean>
  mismatches(model: Model): Promise<SchemaMismatches>
  /** How columns are declared: `jsonb`, `varchar(255)`; null for one that is not there. */
  declaredColumns(): Promise<DeclaredColumn>
  close(): Promise<void>
}

/** How the database declares a column of the model; null: it has none. */
export type DeclaredColumn = (table: string, column: string) => string | null

/** The lock on a project's database, by which processes that start together take turns. */
export interface DatabaseLock {
  /** How many API tokens the database has. */
  countTokens(): Promise<number>
  release(): Promise<void>
}

/** The connections of a pool to a server. */
export interface PoolActivity {
  readonly name: 'main' | 'read' | 'write' | 'write_in_turn'
  readonly idle: number
  readonly used: number
  /** Connections at most. */
  readonly most: number
  /** Statements or transactions that wait for a connection. */
  readonly waiting: number
  /** Times since the start that a connection was waited for in vain. */
  readonly timeouts: number
  /** Times since the start that a connection was asked for, and the seconds until there was one or none could be had; together. */
  readonly waits: number
  readonly waitedSeconds: number
}

/** Where reads are executed that may be executed on replicas. */
export interface ReplicaActivity {
  /** Reads since the start: on a replica; on the primary, because no replica was recent enough or had room; and there once more, because a replica failed meanwhile. */
  readonly reads: { readonly used: number; readonly fellBack: number; readonly repeated: number }
  /** The replicas, in the order of the settings: seconds since each was last recent enough to be used; 0: it is used. */
  readonly behind: readonly number[]
}

/** What a database is busy with at this moment. */
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

/** What a database says about names. */
export interface DatabaseNames {
  /** Whether names of tables may differ in the case of letters only. */
  readonly tellCaseApart: boolean
  /** Whether it has the name of a table for itself. */
  isOwnTable(name: string): boolean
  /** Names of columns that each table of it has for itself. */
  readonly ownColumns: ReadonlySet<string>
}

/** The names of each database. */
export const namesOf = {
  sqlite: { tellCaseApart: false, isOwnTable: (name) => /^sqlite_/i.test(name), ownColumns: new Set() },
  postgres: {
    tellCaseApart: true,
    // Its catalog has names too, which differ between versions: `catalogNames` of postgres/catalog.ts.
    isOwnTable: () => false,
    ownColumns: new Set(['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid']),
  },
  // Constraints have the names of their tables, and are not told apart.
  mysql: { tellCaseApart: false, isOwnTable: () => false, ownColumns: new Set() },
} as const satisfies Readonly<Record<string, DatabaseNames>>

/** A state of the database as a transaction left it. Only the driver that made it looks into `mark`. */
export interface Moment {
  /** What `Dialect.stateSeen` selected in that transaction. */
  readonly seen: string | number
  readonly mark: unknown
}

/**
 * What a transaction knows of the writes of others. Every transaction of this service may have written to any document, except those that
 * declare that they have not; any other program may have, too.
 */
export interface History {
  /** False where something is known to have been written since `moment`, whatever the database says. */
  mayBeUnchanged(moment: Moment): boolean
  /** Whether nothing but declared writes lies between `moment` and this transaction, which selected `seen` by `Dialect.stateSeen`. */
  isUnchanged(moment: Moment, seen: string | number): boolean
  /** The state that this transaction leaves if it is committed; it selected `seen`. */
  moment(seen: string | number): Moment
  /** Declares that this transaction writes to no document but the one that it is about. */
  touchesOneDocument(): void
}

/** Where nobody knows what others write. */
export const unknownHistory: History = {
  mayBeUnchanged: () => false,
  isUnchanged: () => false,
  moment: (seen) => ({ seen, mark: null }),
  touchesOneDocument: () => {},
}

/** A change of the content model as a database carries it out. */
export interface ModelWork {
  readonly steps: readonly PlanStep[]
  /** The model that the steps lead to. */
  readonly model: Model
  /** Selects a row if the change must not be made any more: another process made one. Asked in the transaction of the first step. */
  readonly isOutdated: RawBuilder<unknown>
  /** Make the change: the last statements, in one transaction with all steps; where steps are committed one by one a single statement after the last of them. */
  readonly make: readonly RawBuilder<unknown>[]
  /**
   * Where steps are committed one by one: selects how many of them earlier tries have finished, as `done`, and the statement that notes that
   * number. It is asked while no other process carries out the same.
   */
  readonly progress: { readonly done: RawBuilder<unknown>; note(done: number): RawBuilder<unknown> }
  /**
   * Where steps are committed one by one: the statement that gives the change up, because the step behind the first `done` ones cannot be
   * executed; null: nothing leads back.
   */
  readonly giveUp?: (done: number) => RawBuilder<unknown> | null
  /** Whether it is also given up where tables are in use for too long; absent: another try goes on with it. */
  readonly givesUpInUse?: boolean
}

/** A change that was given up, as a database takes it back. `make`: the statements that end it. */
export interface TakingBack extends Pick<ModelWork, 'isOutdated' | 'make' | 'progress'> {
  readonly steps: readonly ReversingStep[]
}

/** Runs a transaction that writes to no document. */
export const inBookkeeping = <Result>(
  writer: Pick<WriteDatabase, 'transaction'>,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> =>
  writer.transaction((transaction) => {
    transaction.history.touchesOneDocument()
    return work(transaction)
  })

/** Whether there is a table with all of these columns; with none of them, whether there is the table. */
export async function hasColumns(database: RowReader, table: string, columns: readonly string[] = []): Promise<boolean> {
  const names = columns.length === 0 ? sql`1 as one` : sql.join(columns.map((column) => sql.id(column)))
  try {
    await database.rows(sql`select ${names} from ${sql.table(table)} where 1 = 0`)
    return true
  } catch {
    return false
  }
}
