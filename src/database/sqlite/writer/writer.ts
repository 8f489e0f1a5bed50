// The single writer of a SQLite database: a queue of transactions executed on a separate thread, so that neither statements nor the disk
// block requests. `BEGIN IMMEDIATE`, one at a time; commits are durable when acknowledged.

import type { RawBuilder } from 'kysely'
import { elapsed } from '../../../foundation/runtime/clock.js'
import { collectChangedTables, noteChanged, type TableChanges } from '../../cache/table-changes.js'
import type { History, Transaction, WriteDatabase } from '../../database.js'
import { unavailableError } from '../../errors.js'
import { maxWritesInQueue } from '../../limits.js'
import type { Signing } from '../../response/signed-addresses.js'
import type { SqliteOptions } from '../connection.js'
import { sqliteDialect, writeSql } from '../dialect.js'
import type { FileIdentities } from '../file/health.js'
import { type Channel, createWriterThread, type Order } from './channel.js'
import type { Inserted } from './protocol.js'

export interface WriterOptions {
  readonly sqlite: SqliteOptions
  /** Milliseconds for a transaction, including its time in the queue. */
  readonly writeTimeout: number
  /** Maximum bytes of a bounded read's response. */
  readonly writtenBytes: number
  readonly signing: Signing | null
  /** The files that the service has opened: nothing is acknowledged once they are lost; null: not watched. */
  readonly files: FileIdentities | null
  /** Records the tables that each transaction changes. */
  readonly changes: TableChanges
  /** Called after each commit with the number of executed statements, including begin and commit. */
  readonly committed?: (statements: number) => void
}

export interface SqliteWriter extends WriteDatabase {
  /** Runs `work` in its turn with the thread idle, so that it can write on another connection. @throws ApiError 503 if the queue is full */
  alone<Result>(work: () => Promise<Result>): Promise<Result>
  /** True if no other process is known to have committed since the last call. Commits of this writer are recorded before it resolves. */
  isAlone(): Promise<boolean>
}

/** A transaction being committed. The next one starts while the disk still writes. */
interface Committing<Result> {
  readonly result: Result
  /** True if the thread may delay the commit, to share it with the next transaction. */
  readonly isHeld: boolean
  /** Resolves to the number of its statements once it is on disk. */
  readonly committed: Promise<number>
}

/** Runs `work` in a transaction and sends the commit. @throws the error of `work`, after a rollback */
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

/** Creates the writer. Its thread starts with the first transaction. `failed` receives errors of dead threads. */
export function createWriter(options: WriterOptions, failed: (error: Error) => void): SqliteWriter {
  const { sqlite, signing, files, writtenBytes, writeTimeout, changes } = options
  const counts = options.committed !== undefined
  const thread = createWriterThread({ sqlite, signing, files, writtenBytes, counts }, forget, failed)
  const generation: Generation = { current: 0 }
  const queue = createWriteQueue(maxWritesInQueue, flush)
  let isHolding = false
  /** The commit of the latest transaction. */
  let latest: Promise<unknown> = Promise.resolve()
  let plans = 0

  /** A new thread has no knowledge of other processes' writes, so all knowledge is discarded. */
  function forget(): void {
    generation.current++
  }

  /** Commits held transactions, as none follows. */
  function flush(): void {
    if (isHolding) thread.tell({ kind: 'flush' })
    isHolding = false
  }

  async function transaction<Result>(work: (transaction: Transaction) => Promise<Result>, change: number | null = null): Promise<Result> {
    const deadline = elapsed() + writeTimeout
    const taken = queue.take(async (): Promise<Committing<Result>> => {
      if (elapsed() > deadline) throw timeoutError()
      const done = await workIn(
        beginTransaction(thread.running(), { deadline, generation, change, changes }),
        work,
        () => queue.length() > 1,
      )
      isHolding = done.isHeld
      latest = done.committed
      return done
    })
    const { result, committed } = await taken.catch(async (error: unknown) => {
      // The error may be about writes that still wait for their commit: readers see them only afterwards.
      await latest.catch(() => {})
      throw error
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
      queue.take(() => {
        flush()
        return work()
      }),
    isAlone: thread.isAlone,
    register: (plan) => ({ id: ++plans, plan }),
    unregister: (plan) => thread.tell({ kind: 'forget', plan }, true),
    close: async () => {
      await queue.over()
      await thread.close()
    },
  }
}

interface WriterTransaction {
  readonly transaction: Transaction
  /**
   * Sends the commit; resolves to the number of statements once it is on disk. `more`: another transaction follows, so it may share the
   * commit.
   * @throws ApiError 503 if the deadline has passed, now or before an earlier statement
   */
  commit(more: boolean): Promise<number>
  rollback(): Promise<void>
}

type TransactionState =
  | { readonly kind: 'open' }
  /** A late statement was refused: the transaction fails, even if the statement is not awaited. */
  | { readonly kind: 'refused'; readonly error: Error }
  /** The commit or rollback was sent. */
  | { readonly kind: 'over' }

/** Number of this service's transactions that may have written to any document. Commits of other processes change `Dialect.stateSeen`. */
interface Generation {
  current: number
}

const timeoutError = (): Error => unavailableError('The write took too long')

/** A transaction's knowledge of earlier ones; `committing` is called when its commit is sent. */
function beginHistory(generation: Generation): { readonly history: History; committing(): void } {
  const before = generation.current
  let after = before + 1
  return {
    history: {
      mayBeUnchanged: ({ mark }) => mark === before,
      isUnchanged: (earlier, seen) => earlier.mark === before && earlier.seen === seen,
      stateAfter: (seen) => ({ seen, mark: after }),
      writesOneDocumentOnly: () => {
        after = before
      },
    },
    committing: () => {
      generation.current = after
    },
  }
}

interface WriterTransactionOptions {
  readonly deadline: number
  readonly generation: Generation
  /** As in `WriteDatabase.transaction`; null for none. */
  readonly change: number | null
  /** Records the changed tables before the commit is acknowledged. */
  readonly changes: TableChanges
}

function beginTransaction(channel: Channel, { deadline, generation, change, changes }: WriterTransactionOptions): WriterTransaction {
  const { history, committing } = beginHistory(generation)
  const changed = collectChangedTables()
  const note = () => noteChanged(changes, changed.all())
  let state: TransactionState = { kind: 'open' }

  /** Returns why nothing can be sent; null: it can. */
  function refusal(): Error | null {
    if (state.kind === 'open' && elapsed() > deadline) state = { kind: 'refused', error: timeoutError() }
    if (state.kind === 'open') return null
    return state.kind === 'refused' ? state.error : timeoutError()
  }

  function ask<Answer>(order: Order, later = false): Promise<Answer> {
    const refused = refusal()
    const response = refused === null ? channel.ask<Answer>(order, later) : Promise.reject(refused)
    // Failures of statements that are not awaited are reported by the commit.
    response.catch(() => {})
    return response
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
      // Recorded before the commit is acknowledged or the next turn begins; also if it failed or its outcome is unknown.
      committed.then(note, note)
      return committed
    },
    rollback: async () => {
      state = { kind: 'over' }
      await channel.ask({ kind: 'rollback' }).catch(() => {})
    },
  }
}

interface WriteQueue {
  /** Number of waiting turns, plus the current one. */
  length(): number
  /** Takes a turn after all earlier ones. @throws ApiError 503 if the queue is full */
  take<Result>(turn: () => Promise<Result>): Promise<Result>
  /** Resolves once all turns requested so far are over. */
  over(): Promise<unknown>
}

/** Creates a queue of up to `maxLength` turns. `emptied` is called when the last one is over. */
function createWriteQueue(maxLength: number, emptied: () => void): WriteQueue {
  let length = 0
  let last: Promise<unknown> = Promise.resolve()

  function leave(): void {
    length--
    if (length === 0) emptied()
  }

  return {
    length: () => length,
    take: (turn) => {
      if (length >= maxLength) throw unavailableError('Too many writes are waiting')
      length++
      const taken = last.then(turn).finally(leave)
      last = taken.catch(() => {})
      return taken
    },
    over: () => last,
  }
}
