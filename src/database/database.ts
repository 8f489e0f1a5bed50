// What the rest of the service sees of a database: it executes plans. Where and on which thread is its own affair.
import type { Database as Connection } from 'better-sqlite3'
import type { RawBuilder } from 'kysely'
import type { Logger } from 'pino'
import type { ColumnSpans } from '../model/diff/conversions.js'
import type { PlanStep } from '../model/diff/steps.js'
import type { Model } from '../model/schema/types.js'
import type { SchemaMismatches } from '../model/tables/mismatches.js'
import type { DatabaseActivity } from './activity.js'
import type { CommitWatch } from './cache/table-changes.js'
import type { Dialect } from './dialect.js'
import type { History } from './history.js'
import type { ModelWork, TakingBack } from './model-work.js'
import type { DatabaseNames } from './names.js'
import type { ReadPlan, Statement } from './plan.js'
import type { Signing } from './signing.js'

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
