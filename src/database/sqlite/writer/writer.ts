// The one writer of a SQLite database: transactions wait in line for a thread of their own, so that neither statements nor
// the disk hold up requests. `BEGIN IMMEDIATE`, one at a time; a commit is on disk when it is acknowledged.

import type { RawBuilder } from 'kysely'
import { elapsed } from '../../../foundation/runtime/clock.js'
import { collectChanged, noteChanged, type TableChanges } from '../../cache/table-changes.js'
import type { History, Transaction, WriteDatabase } from '../../database.js'
import { unavailable } from '../../errors.js'
import type { Signing } from '../../response/signed-addresses.js'
import type { SqliteOptions } from '../connection.js'
import { sqliteDialect, writeSql } from '../dialect.js'
import type { FileIdentities } from '../file/file-watch.js'
import { type Channel, type Order, openWriterThread } from './channel.js'
import type { Inserted } from './protocol.js'

export interface WriterOptions {
  readonly sqlite: SqliteOptions
  /** Transactions that may wait. */
  readonly writeQueue: number
  /** Milliseconds that one transaction may take, waiting included. */
  readonly writeTimeout: number
  /** The largest answer that a bounded read may have, in bytes. */
  readonly writtenBytes: number
  /** How addresses of files are signed in answers; null: not at all. */
  readonly signing: Signing | null
  /** The files that the service has opened: nothing is acknowledged once they are not at their place; null: not looked at. */
  readonly files: FileIdentities | null
  /** Notes the tables that each transaction changes. */
  readonly changes: TableChanges
  /** Is told after each commit how many statements the driver ran for the transaction, its begin and its commit included. */
  readonly committed?: (statements: number) => void
}

/** The writer of a SQLite database. */
export interface SqliteWriter extends WriteDatabase {
  /** Takes a turn in which the thread writes nothing: `work` writes by a connection of its own. @throws ApiError 503 if too many wait */
  alone<Result>(work: () => Promise<Result>): Promise<Result>
  /** True if nobody else has committed since the last call, as far as is known. What it has committed itself is noted before it resolves. */
  isAlone(): Promise<boolean>
}

/** What a transaction leads to. Its turn is over before it is on disk: the next one begins while the disk still writes. */
interface Committing<Result> {
  readonly result: Result
  /** Whether the thread may hold its commit back for the next transaction to share. */
  readonly isHeld: boolean
  /** Resolves to the number of its statements when it is on disk. */
  readonly committed: Promise<number>
}

/** Does `work` in a turn, and sends its commit. @throws what the work failed with; nothing is committed then */
async function workIn<Result>(
  turn: WriterTurn,
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
 * Opens the writer. Its thread starts with the first transaction: a service that is only read does without.
 * `failed` hears of threads that died; what they were doing is answered with 503.
 */
export function openWriter(options: WriterOptions, failed: (error: Error) => void): SqliteWriter {
  const { sqlite, signing, files, writtenBytes, writeQueue, writeTimeout, changes } = options
  const counts = options.committed !== undefined
  const thread = openWriterThread({ sqlite, signing, files, writtenBytes, counts }, forget, failed)
  const generation: Generation = { current: 0 }
  const line = openLine(writeQueue, flush)
  /** Whether the thread may be holding a commit back. */
  let isHolding = false
  let plans = 0

  /** A new thread counts the writes of others anew: nothing that was known of them holds. */
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
      if (elapsed() > deadline) throw tooSlow()
      const done = await workIn(beginTurn(thread.running(), { deadline, generation, change, changes }), work, () => line.length() > 1)
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
        history.touchesOneDocument()
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
export interface WriterTurn {
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

/** What may still be asked for in a turn. */
type TurnState =
  | { readonly kind: 'open' }
  /** A statement came too late and was not sent: the turn fails, also if nobody waited for the statement. */
  | { readonly kind: 'refused'; readonly error: Error }
  /** The commit or the rollback was sent. */
  | { readonly kind: 'over' }

/**
 * How many transactions may have written to any document, so far as is known: those of this service are counted here, those of others
 * change what `Dialect.stateSeen` selects.
 */
export interface Generation {
  current: number
}

/** The error of a write whose time is over. */
export const tooSlow = (): Error => unavailable('The write took too long')

/** What a transaction that begins now knows of earlier ones; `committing` is called when its commit is sent. */
function beginHistory(generation: Generation): { readonly history: History; committing(): void } {
  const before = generation.current
  let after = before + 1
  return {
    history: {
      mayBeUnchanged: ({ mark }) => mark === before,
      isUnchanged: (moment, seen) => moment.mark === before && moment.seen === seen,
      moment: (seen) => ({ seen, mark: after }),
      touchesOneDocument: () => {
        after = before
      },
    },
    committing: () => {
      generation.current = after
    },
  }
}

/** What a transaction is begun with. */
export interface WriterTurnOptions {
  /** When it must be over (`elapsed`). */
  readonly deadline: number
  readonly generation: Generation
  /** As in `WriteDatabase.transaction`; null for none. */
  readonly change: number | null
  /** Notes the tables that it changes, before its commit is acknowledged. */
  readonly changes: TableChanges
}

/** Begins a transaction. None may be under way. */
export function beginTurn(channel: Channel, { deadline, generation, change, changes }: WriterTurnOptions): WriterTurn {
  const { history, committing } = beginHistory(generation)
  const changed = collectChanged()
  const note = () => noteChanged(changes, changed.all())
  let state: TurnState = { kind: 'open' }

  /** Why nothing can be sent any more; null: it can. */
  function refusal(): Error | null {
    if (state.kind === 'open' && elapsed() > deadline) state = { kind: 'refused', error: tooSlow() }
    if (state.kind === 'open') return null
    return state.kind === 'refused' ? state.error : tooSlow()
  }

  function ask<Answer>(order: Order, later = false): Promise<Answer> {
    const refused = refusal()
    const answer = refused === null ? channel.ask<Answer>(order, later) : Promise.reject(refused)
    // Whoever does not wait for a statement learns of its failure at the commit.
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
export interface WriteLine {
  /** Turns that wait, and the one that is taken. */
  length(): number
  /** Takes a turn after those that came before. @throws ApiError 503 if the line is full */
  take<Result>(turn: () => Promise<Result>): Promise<Result>
  /** Resolves when the turns that were asked for so far are over. */
  over(): Promise<unknown>
}

/** Opens a line of at most `places` turns. `emptied` is called when a turn is over and no other waits. */
export function openLine(places: number, emptied: () => void): WriteLine {
  let length = 0
  let last: Promise<unknown> = Promise.resolve()

  function leave(): void {
    length--
    if (length === 0) emptied()
  }

  return {
    length: () => length,
    take: (turn) => {
      if (length >= places) throw unavailable('Too many writes are waiting')
      length++
      const taken = last.then(turn).finally(leave)
      last = taken.catch(() => {})
      return taken
    },
    over: () => last,
  }
}
