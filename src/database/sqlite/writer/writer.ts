// The one writer of a SQLite database: transactions wait in line for a thread of their own, so that neither statements nor
// the disk hold up requests. `BEGIN IMMEDIATE`, one at a time; a commit is on disk when it is acknowledged.
import { elapsed } from '../../../runtime/clock.js'
import type { PlanHandle, Transaction, WriteDatabase } from '../../database.js'
import type { Signing } from '../../signing.js'
import { unavailable } from '../../unavailable.js'
import type { SqliteOptions } from '../connection.js'
import { sqliteDialect, writeSql } from '../dialect.js'
import type { FileIdentities } from '../file/watch.js'
import { type Channel, type Order, openChannel } from './channel.js'
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
  /** Is told after each commit how many statements the driver ran for the transaction, its begin and its commit included. */
  readonly committed?: (statements: number) => void
}

/** What a transaction answers once it is on disk. Its turn is over before: the next one begins while the disk still writes. */
interface Turn<Result> {
  readonly result: Result
  readonly committed: Promise<number>
}

/**
 * Opens the writer. Its thread starts with the first transaction: a service that is only read does without.
 * `failed` hears of threads that died; what they were doing is answered with 503.
 */
export function openWriter(options: WriterOptions, failed: (error: Error) => void): WriteDatabase {
  let channel: Channel | null = null
  let [plans, waiting] = [0, 0]
  /** Counts the transactions that may have written to any document. What others write changes what `Dialect.stateSeen` selects. */
  let generation = 0
  /** Whether the thread may be holding a commit back for the next transaction to share. */
  let holding = false
  let last: Promise<unknown> = Promise.resolve()

  /** The thread; one that died is replaced. */
  function thread(): Channel {
    if (channel?.isOpen()) return channel
    // Its connection counts the writes of others anew.
    generation++
    channel = openChannel(
      {
        sqlite: options.sqlite,
        signing: options.signing,
        files: options.files,
        writtenBytes: options.writtenBytes,
        counts: options.committed !== undefined,
      },
      failed,
    )
    return channel
  }

  async function inTurn<Result>(work: (transaction: Transaction) => Promise<Result>, deadline: number): Promise<Turn<Result>> {
    if (elapsed() > deadline) throw tooSlow()
    const mine = thread()
    const before = generation
    let [open, isKept] = [true, false]
    const after = () => (isKept ? before : before + 1)
    /** Why a statement was not even sent: the transaction fails, also when nobody waited for it. */
    let refused: Error | null = null
    const mayAsk = (): boolean => {
      if (!open || elapsed() > deadline) refused ??= tooSlow()
      return refused === null
    }
    const ask = <Answer>(order: Order, later = false): Promise<Answer> => {
      const answer = mayAsk() ? mine.ask<Answer>(order, later) : Promise.reject(refused)
      // Whoever does not wait for a statement learns of its failure at the commit.
      answer.catch(() => {})
      return answer
    }
    ask({ kind: 'begin' }, true)
    try {
      const result = await work({
        dialect: sqliteDialect,
        history: {
          mayBeUnchanged: ({ mark }) => mark === before,
          isUnchanged: (moment, seen) => moment.mark === before && moment.seen === seen,
          moment: (seen) => ({ seen, mark: after() }),
          touchesOneDocument: () => {
            isKept = true
          },
        },
        rows: (query) => ask({ kind: 'rows', ...writeSql(query) }),
        run: (query) => ask({ kind: 'run', ...writeSql(query) }),
        insert: async (query) => (await ask<Inserted>({ kind: 'run', ...writeSql(query) })).id,
        follow: (query) => {
          if (mayAsk()) mine.tell({ kind: 'follow', ...writeSql(query) }, true)
        },
        defer: async (last) => void (await last),
        read: (plan, parameters, isBounded = false) => ask({ kind: 'read', plan, parameters, isBounded }),
      })
      if (!mayAsk()) throw refused
      open = false
      generation = after()
      holding = waiting > 1
      const committed = mine.ask<number>({ kind: 'commit', more: holding })
      // The next turn begins before anyone waits for this.
      committed.catch(() => {})
      return { result, committed }
    } catch (error) {
      open = false
      await mine.ask({ kind: 'rollback' }).catch(() => {})
      throw error
    }
  }

  /** A turn is over. Where no other follows, nothing may be held back for it. */
  function over(): void {
    waiting--
    if (waiting > 0 || !holding) return
    holding = false
    channel?.tell({ kind: 'flush' })
  }

  /** Lets `work` have its turn after those that came before. */
  async function inLine<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    if (waiting >= options.writeQueue) throw unavailable('Too many writes are waiting')
    waiting++
    const deadline = elapsed() + options.writeTimeout
    const turn = last.then(() => inTurn(work, deadline)).finally(over)
    last = turn.catch(() => {})
    const { result, committed } = await turn
    const statements = await committed
    options.committed?.(statements)
    return result
  }

  return {
    transaction: inLine,
    run: (query) =>
      inLine(async ({ history, follow }) => {
        history.touchesOneDocument()
        follow(query)
      }),
    register: (plan): PlanHandle => ({ id: ++plans, plan }),
    unregister: (plan) => channel?.tell({ kind: 'forget', plan }, true),
    close: async () => {
      await last
      await channel?.close()
    },
  }
}

const tooSlow = (): Error => unavailable('The write took too long')
