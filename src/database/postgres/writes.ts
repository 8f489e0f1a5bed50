// The writes of a service: transactions on a bounded pool, many at a time. Each is serializable; one that conflicts with another is run
// again, and after some tries in turn with others that conflicted.
import type pg from 'pg'
import { elapsed } from '../../runtime/clock.js'
import type { Signer } from '../answer/signed-addresses.js'
import type { PlanHandle, Transaction, WriteDatabase } from '../database.js'
import { unavailable } from '../unavailable.js'
import { execute, onConnection, openPool, type PostgresSettings, type Statements } from './connection.js'
import { writePostgresSql } from './dialect.js'
import { explained, isConflict, isConnectionLoss } from './errors.js'
import { type PlanReader, preparePlanReader } from './execute.js'
import { type Attempt, beginAttempt } from './transaction.js'

export interface WriteOptions {
  readonly settings: PostgresSettings
  /** Connections at most. */
  readonly connections: number
  /** Transactions that may wait for a connection. */
  readonly writeQueue: number
  /** Milliseconds that one transaction may take, waiting and tries included. */
  readonly writeTimeout: number
  /** The largest answer that a bounded read may have, in bytes. */
  readonly writtenBytes: number
  /** How addresses of files are signed in answers; null: not at all. */
  readonly signer: Signer | null
}

/** Tries after which a transaction takes its turn with others that conflict, and milliseconds to wait after the first one. */
const [freeTries, firstPause, longestPause] = [2, 2, 100]

/** Milliseconds that a statement of a write waits for a lock. */
const lockTimeout = 3_000

/** Milliseconds in which the outcome of a commit can be found out after its connection was lost, and between two looks. */
const [outcomePatience, outcomePause] = [5_000, 50]

/** Opens the writes; connections are made when they are needed. `small`: a pool for statements about the outcome of others. */
export function openWrites(options: WriteOptions, small: pg.Pool, statements: Statements, failed: (error: Error) => void): WriteDatabase {
  const { settings, connections, writeQueue, writeTimeout, writtenBytes, signer } = options
  const pool = openPool(settings, { max: connections, pipelined: true, failed })
  const readers = new Map<number, PlanReader>()
  let plans = 0

  function readerOf({ id, plan }: PlanHandle): PlanReader {
    const reader = readers.get(id) ?? preparePlanReader(plan, signer)
    readers.set(id, reader)
    return reader
  }

  /** One try on a connection of the pool. @throws what made it fail; nothing is committed then */
  const attempt = <Result>(work: (transaction: Transaction) => Promise<Result>, deadline: number, inTurn: boolean): Promise<Result> =>
    onConnection(pool, async (client) => {
      const statementTimeout = Math.max(1, Math.ceil(deadline - elapsed()))
      const under = beginAttempt(client, { statements, readerOf, writtenBytes, deadline, statementTimeout, lockTimeout, inTurn })
      const result = await tried(under, work)
      await committed(under, small, statements)
      return result
    })

  function inLine<Result>(run: (deadline: number, inTurn: boolean) => Promise<Result>): Promise<Result> {
    if (pool.waitingCount >= writeQueue) throw unavailable('Too many writes are waiting')
    const deadline = elapsed() + writeTimeout
    return retried((inTurn) => run(deadline, inTurn), deadline)
  }

  return {
    transaction: async (work) => inLine((deadline, inTurn) => attempt(work, deadline, inTurn)),
    run: async (query) => {
      const { text, values } = writePostgresSql(query)
      await inLine(() => execute(statements, pool, text, values))
    },
    register: (plan) => ({ id: ++plans, plan }),
    unregister: ({ id }) => void readers.delete(id),
    close: () => pool.end(),
  }
}

/** Runs the work of a transaction; where it fails, nothing of it stays. */
async function tried<Result>(under: Attempt, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
  try {
    const result = await work(under.transaction)
    if (under.failure() !== null) throw under.failure()
    return result
  } catch (error) {
    const failure = under.failure()
    await under.rollback().catch(() => {})
    throw failure ?? error
  }
}

/** Commits. Where the connection is lost meanwhile, the server is asked what became of the transaction. */
async function committed(under: Attempt, small: pg.Pool, statements: Statements): Promise<void> {
  const before = under.failure()
  try {
    await under.commit()
  } catch (error) {
    if (!isConnectionLoss(error) || before !== null) throw error
    const outcome = await outcomeOf(under, small, statements)
    if (outcome === 'committed') return
    if (outcome === 'aborted') throw error
    throw unavailable('The database was lost while it committed, and may have done so: look whether the write is there', error)
  }
}

/** What became of a transaction: `committed`, `aborted`, or `unknown`. */
async function outcomeOf(under: Attempt, small: pg.Pool, statements: Statements): Promise<string> {
  const end = elapsed() + outcomePatience
  const id = await under.id.catch(() => null)
  while (id !== null && elapsed() < end) {
    try {
      const { rows } = await execute(statements, small, 'select pg_xact_status(cast($1 as xid8))', [id])
      const status = String(rows[0]![0])
      if (status !== 'in progress') return status
    } catch (error) {
      if (!isConnectionLoss(error)) return 'unknown'
    }
    await pause(outcomePause)
  }
  return 'unknown'
}

/** Tries until nothing conflicts, or the time is over. */
async function retried<Result>(run: (inTurn: boolean) => Promise<Result>, deadline: number): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await run(tries > freeTries)
    } catch (error) {
      const wait = Math.min(longestPause, firstPause * 2 ** tries) * (0.5 + Math.random())
      const mayPass = isConflict(error) || (isConnectionLoss(error) && tries <= freeTries)
      if (!mayPass || elapsed() + wait > deadline) throw explained(error)
      await pause(wait)
    }
  }
}

const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))
