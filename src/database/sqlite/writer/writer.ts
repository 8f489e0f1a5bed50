// The one writer of a SQLite database: transactions wait in line for a thread of their own, so that neither statements nor
// the disk hold up requests. `BEGIN IMMEDIATE`, one at a time; a commit is on disk when it is acknowledged.
import { elapsed } from '../../../foundation/runtime/clock.js'
import type { TableChanges } from '../../cache/table-changes.js'
import type { Transaction, WriteDatabase } from '../../database.js'
import type { Signing } from '../../signing.js'
import type { SqliteOptions } from '../connection.js'
import type { FileIdentities } from '../file/watch.js'
import { openWriterThread } from './channel.js'
import { openLine } from './line.js'
import { beginTurn, type Generation, tooSlow, type WriterTurn } from './turn.js'

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
