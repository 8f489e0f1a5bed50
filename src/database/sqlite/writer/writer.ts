// The only writer of a SQLite database: queued transactions run on a separate thread, so that neither statements nor the disk block
// requests. `BEGIN IMMEDIATE`, one at a time; a commit is on disk when it is acknowledged.

import type { RawBuilder } from 'kysely'
import { elapsed } from '../../../foundation/runtime/clock.js'
import { collectChangedTables, noteChanged, type TableChanges } from '../../cache/table-changes.js'
import type { History, Transaction, WriteDatabase } from '../../database.js'
import { unavailableError } from '../../errors.js'
import type { Signing } from '../../response/signed-addresses.js'
import type { SqliteOptions } from '../connection.js'
import { sqliteDialect, writeSql } from '../dialect.js'
import type { FileIdentities } from '../file/health.js'
import { type Channel, createWriterThread, type Order } from './channel.js'
import type { Inserted } from './protocol.js'

export interface WriterOptions {
  readonly sqlite: SqliteOptions
  /** Transactions that may wait. */
  readonly writeQueue: number
  /** Milliseconds that one transaction may take, waiting included. */
  readonly writeTimeout: number
  /** The largest answer that a bounded read may have, in bytes. */
  readonly writtenBytes: number
  readonly signing: Signing | null
  /** The files that the service has opened: nothing is acknowledged once they are not at their place; null: not looked at. */
  readonly files: FileIdentities | null
  /** Notes the tables that each transaction changes. */
  readonly changes: TableChanges
  /** Called after each commit with the number of the driver's statements, including begin and commit. */
  readonly committed?: (statements: number) => void
}

/** The writer of a SQLite database. */
export interface SqliteWriter extends WriteDatabase {
  /** Waits for its turn and keeps the thread idle: `work` writes on another connection. @throws ApiError 503 if the queue is full */
  alone<Result>(work: () => Promise<Result>): Promise<Result>
  /** True if no other process is known to have committed since the last call. Commits of this writer are noted before it resolves. */
  isAlone(): Promise<boolean>
}

/** Result of a transaction that is being committed. The next one starts while the disk still writes. */
interface Committing<Result> {
  readonly result: Result
  /** True if the thread may delay its commit, to share it with the next transaction. */
  readonly isHeld: boolean
  /** Resolves to the number of its statements when it is on disk. */
  readonly committed: Promise<number>
}

/** Does `work` in a turn, and sends its commit. @throws what the work failed with; nothing is committed then */
async function workIn<Result>(
  turn: WriterTransaction,
  work: (transaction: Transaction) => Promise<Result>,
  isFollowed: () => boolean,
): Promise<Committing<Result>> {
  try {
    const result = await work(turn.transaction)
    const isHeld = isFollowed()
    return { result, isHeld, committed: turn.commit(isHeld) }
  } catch (error) {
    await turn.rollback()
    throw error
  }
}

/**
 * Creates the writer. Its thread starts with the first transaction. `failed` receives errors of threads that died; their transactions fail
 * with 503.
 */
export function createWriter(options: WriterOptions, failed: (error: Error) => void): SqliteWriter {
  const { sqlite, signing, files, writtenBytes, writeQueue, writeTimeout, changes } = options
  const counts = options.committed !== undefined
  const thread = createWriterThread({ sqlite, signing, files, writtenBytes, counts }, forget, failed)
  const generation: Generation = { current: 0 }
  const line = createWriteQueue(writeQueue, flush)
  let isHolding = false
  let plans = 0

  /** A new thread cannot know earlier writes of other processes, so all knowledge is discarded. */
  function forget(): void {
    generation.current++
  }

  /** No transaction follows: nothing may be held back for it. */
  function flush(): void {
    if (isHolding) thread.tell({ kind: 'flush' })
    isHolding = false
  }

  async function transaction<Result>(work: (transaction: Transaction) => Promise<Result>, change: number | null = null): Promise<Result> {
    const deadline = elapsed() + writeTimeout
    const { result, committed } = await line.take(async (): Promise<Committing<Result>> => {
      if (elapsed() > deadline) throw timeoutError()
      const done = await workIn(
        beginTransaction(thread.running(), { deadline, generation, change, changes }),
        work,
        () => line.length() > 1,
      )
      isHolding = done.isHeld
      return done
    })
    const statements = await committed
    options.committed?.(statements)
    return result
  }

  return {
    transaction,
    run: (query) =>
      transaction(async ({ history, follow }) => {
        history.writesOneDocumentOnly()
        follow(query)
      }),
    alone: (work) =>
      line.take(() => {
        flush()
        return work()
      }),
    isAlone: thread.isAlone,
    register: (plan) => ({ id: ++plans, plan }),
    unregister: (plan) => thread.tell({ kind: 'forget', plan }, true),
    close: async () => {
      await line.over()
      await thread.close()
    },
  }
}

/** A transaction that has begun. */
export interface WriterTransaction {
  readonly transaction: Transaction
  /**
   * Sends the commit, after which nothing more can be asked for. Resolves to the number of its statements when it is on disk. `more`:
   * another transaction follows, so the commit may be shared with it.
   * @throws ApiError 503 if its time is over, or was over when it asked for a statement
   */
  commit(more: boolean): Promise<number>
  /** Rolls back, and resolves when that is done. */
  rollback(): Promise<void>
}

/** State of a transaction for its callers. */
type TransactionState =
  | { readonly kind: 'open' }
  /** A late statement was not sent: the transaction fails, even if the statement is not awaited. */
  | { readonly kind: 'refused'; readonly error: Error }
  /** The commit or the rollback was sent. */
  | { readonly kind: 'over' }

/**
 * Number of transactions that may have written to any document: those of this service; commits of other processes change
 * `Dialect.stateSeen`.
 */
export interface Generation {
  current: number
}

/** The error of a write whose time is over. */
export const timeoutError = (): Error => unavailableError('The write took too long')

/** Knowledge of a transaction about earlier ones; `committing` is called when its commit is sent. */
function beginHistory(generation: Generation): { readonly history: History; committing(): void } {
  const before = generation.current
  let after = before + 1
  return {
    history: {
      mayBeUnchanged: ({ mark }) => mark === before,
      isUnchanged: (moment, seen) => moment.mark === before && moment.seen === seen,
      moment: (seen) => ({ seen, mark: after }),
      writesOneDocumentOnly: () => {
        after = before
      },
    },
    committing: () => {
      generation.current = after
    },
  }
}

export interface WriterTransactionOptions {
  /** When it must be over (`elapsed`). */
  readonly deadline: number
  readonly generation: Generation
  /** As in `WriteDatabase.transaction`; null for none. */
  readonly change: number | null
  /** Notes the tables that it changes, before its commit is acknowledged. */
  readonly changes: TableChanges
}

/** Begins a transaction. None may be under way. */
export function beginTransaction(channel: Channel, { deadline, generation, change, changes }: WriterTransactionOptions): WriterTransaction {
  const { history, committing } = beginHistory(generation)
  const changed = collectChangedTables()
  const note = () => noteChanged(changes, changed.all())
  let state: TransactionState = { kind: 'open' }

  /** Why nothing can be sent; null: it can. */
  function refusal(): Error | null {
    if (state.kind === 'open' && elapsed() > deadline) state = { kind: 'refused', error: timeoutError() }
    if (state.kind === 'open') return null
    return state.kind === 'refused' ? state.error : timeoutError()
  }

  function ask<Answer>(order: Order, later = false): Promise<Answer> {
    const refused = refusal()
    const answer = refused === null ? channel.ask<Answer>(order, later) : Promise.reject(refused)
    // Failures of statements that are not awaited are reported by the commit.
    answer.catch(() => {})
    return answer
  }

  function written(query: RawBuilder<unknown>): { readonly sql: string; readonly parameters: readonly unknown[] } {
    const statement = writeSql(query)
    changed.add(statement.sql)
    return statement
  }

  ask({ kind: 'begin', change }, true)
  return {
    transaction: {
      dialect: sqliteDialect,
      history,
      rows: (query) => ask({ kind: 'rows', ...written(query) }),
      run: (query) => ask({ kind: 'run', ...written(query) }),
      insert: async (query) => (await ask<Inserted>({ kind: 'run', ...written(query) })).id,
      follow: (query) => {
        const statement = written(query)
        if (refusal() === null) channel.tell({ kind: 'follow', ...statement }, true)
      },
      defer: async (last) => void (await last),
      read: (plan, parameters, isBounded = false) => ask({ kind: 'read', plan, parameters, isBounded }),
    },
    commit: (more) => {
      const refused = refusal()
      if (refused !== null) throw refused
      state = { kind: 'over' }
      committing()
      const committed = channel.ask<number>({ kind: 'commit', more })
      // Before anyone else hears of it; also where it failed, or where that is not known. The next turn begins before anyone waits for this.
      committed.then(note, note)
      return committed
    },
    rollback: async () => {
      state = { kind: 'over' }
      await channel.ask({ kind: 'rollback' }).catch(() => {})
    },
  }
}

/** Writes that take turns. */
export interface WriteQueue {
  /** Turns that wait, and the one that is taken. */
  length(): number
  /** Takes a turn after those that came before. @throws ApiError 503 if the line is full */
  take<Result>(turn: () => Promise<Result>): Promise<Result>
  /** Resolves when the turns that were asked for so far are over. */
  over(): Promise<unknown>
}

/** Opens a line of at most `places` turns. `emptied` is called when a turn is over and no other waits. */
function createWriteQueue(places: number, emptied: () => void): WriteQueue {
  let length = 0
  let last: Promise<unknown> = Promise.resolve()

  function leave(): void {
    length--
    if (length === 0) emptied()
  }

  return {
    length: () => length,
    take: (turn) => {
      if (length >= places) throw unavailableError('Too many writes are waiting')
      length++
      const taken = last.then(turn).finally(leave)
      last = taken.catch(() => {})
      return taken
    },
    over: () => last,
  }
}
