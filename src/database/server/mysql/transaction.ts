// A single attempt at a transaction, whose statements are executed in call order.
import { randomUUID } from 'node:crypto'
import type { RawBuilder } from 'kysely'
import { elapsed, pause } from '../../../foundation/runtime/clock.js'
import { type PlanHandle, type ReadResult, type Transaction, unknownHistory } from '../../database.js'
import type { Dialect } from '../../dialect.js'
import { unavailableError } from '../../errors.js'
import { isTooLarge, responseTooLarge } from '../../response/write.js'
import { type QueuedWrite, runWrites, type WriteOutcome } from '../group-commit.js'
import type { CommitOutcome } from '../retry-transaction.js'
import { type Client, type MysqlExecuted, toObjects } from './client.js'
import { groupRow, groupTable, outcomeTable } from './create-tables.js'
import { getErrno, isConflict, isConnectionLoss, isLockWait } from './errors.js'
import { noteWritten, onClient, type Pool } from './pool.js'
import type { MysqlPlanReader } from './reads.js'
import { execute } from './translate-sql.js'

export interface MysqlAttemptOptions {
  readonly dialect: Dialect
  readerOf(plan: PlanHandle): MysqlPlanReader
  /** Maximum bytes of a bounded read's response. */
  readonly writtenBytes: number
  readonly deadline: number
}

export interface MysqlAttempt {
  readonly transaction: Transaction
  failure(): unknown
  /** Identifies the outcome of the commit; null: nothing to commit yet. */
  id(): string | null
  /** Commits. @throws the first failure, if any, after which nothing is committed */
  commit(): Promise<void>
  rollback(): Promise<void>
}

/** Begins a transaction on `client`, a connection for writes. */
export function beginAttempt(client: Client, options: MysqlAttemptOptions): MysqlAttempt {
  const part = beginWrite(client, options.deadline, options)
  const commit = openCommit(client, part.hasWritten)
  return {
    failure: part.failure,
    id: commit.id,
    transaction: part.transaction,
    commit: async () => {
      await part.end()
      if (part.failure() !== null) throw part.failure()
      await commit.run()
    },
    rollback: async () => {
      await part.end()
      await rollback(client)
    },
  }
}

/** Writes executed in one transaction that is not committed yet. */
interface MysqlGroup extends Pick<MysqlAttempt, 'id' | 'commit' | 'rollback'> {
  readonly outcomes: readonly WriteOutcome[]
}

/**
 * Executes writes one after the other in a transaction on `client`, excluding other groups. A failed write is rolled back individually.
 * @throws errors that end the transaction: a conflict or a connection loss. It is not rolled back yet
 */
export async function runGroup(client: Client, turns: readonly QueuedWrite[], options: MysqlAttemptOptions): Promise<MysqlGroup> {
  let hasWritten = false
  await lockGroup(client)
  const outcomes = await runWrites(turns, {
    savepoint: () => client.query('savepoint turn'),
    run: async ({ work, deadline }) => {
      const part = beginWrite(client, deadline, options)
      try {
        const result = await work(part.transaction)
        await part.end()
        if (part.failure() !== null) throw part.failure()
        hasWritten ||= part.hasWritten()
        return result
      } catch (error) {
        await part.end()
        throw part.failure() ?? error
      }
    },
    rollback: () => client.query('rollback to savepoint turn'),
    isFatal: (error) => (isConflict(error) && !isLockWait(error)) || isConnectionLoss(error),
  })
  const commit = openCommit(client, () => hasWritten)
  return { outcomes, id: commit.id, commit: commit.run, rollback: () => rollback(client) }
}

/** Maximum attempts to get the lock, each with the connection's lock timeout. */
const maxLockTries = 3

/**
 * Takes the lock of grouped writes before the first read, so that the effects of earlier groups are visible. On a Galera node the row is
 * replaced instead: of two such transactions on two nodes, one commits and the other conflicts.
 * @throws the server's error
 */
export async function lockGroup(client: Client): Promise<void> {
  for (let left = maxLockTries - 1; ; left--) {
    try {
      if (!client.isGalera) await client.query(`select id from ${groupTable} where id = ${groupRow} for update`)
      else {
        // Rewriting the row unchanged would not count as a write.
        await client.query(`delete from ${groupTable} where id = ${groupRow}`)
        await client.query(`insert into ${groupTable} (id) values (${groupRow})`)
      }
      return
    } catch (error) {
      if (left === 0 || !isLockWait(error)) throw error
    }
  }
}

/** Cuts a connection that may still be in the transaction. */
const rollback = async (client: Client): Promise<void> => void (await client.query('rollback').catch(() => client.cut()))

/** The commit. `id` as in `MysqlAttempt`. */
function openCommit(client: Client, hasWritten: () => boolean): { id(): string | null; run(): Promise<void> } {
  let id: string | null = null
  return {
    id: () => id,
    run: async () => {
      if (hasWritten()) {
        const noted = randomUUID()
        await client.query(noteStatement(noted))
        id = noted
      }
      await client.query('commit')
      if (id !== null) noteWritten(client)
    },
  }
}

interface WritePart {
  readonly transaction: Transaction
  failure(): unknown
  hasWritten(): boolean
  /** Refuses further statements; resolves once none is running. */
  end(): Promise<void>
}

function beginWrite(client: Client, deadline: number, { dialect, readerOf, writtenBytes }: MysqlAttemptOptions): WritePart {
  let [isOpen, hasWritten]: [boolean, boolean] = [true, false]
  const line = createStatementQueue(() => (isOpen && elapsed() <= deadline ? null : unavailableError('The write took too long')))
  const { perform } = line
  const run = (query: RawBuilder<unknown>): Promise<MysqlExecuted> => perform(() => execute(client, query))
  const change = (query: RawBuilder<unknown>): Promise<MysqlExecuted> => {
    hasWritten = true
    return run(query)
  }
  return {
    failure: line.failure,
    hasWritten: () => hasWritten,
    end: () => {
      isOpen = false
      return line.settled()
    },
    transaction: {
      dialect,
      history: unknownHistory,
      rows: async (query) => toObjects(await run(query)) as never,
      run: async (query) => ({ rows: (await change(query)).changed }),
      insert: async (query) => (await change(query)).inserted,
      follow: (query) => void change(query).catch(() => {}),
      defer: async (last) => void (await last),
      read: async (plan, values, isBounded = false) => {
        const limit = isBounded ? writtenBytes : Number.MAX_SAFE_INTEGER
        const answer = await perform(() => readInside(readerOf(plan), client, values, limit))
        if (answer === 'tooLarge') throw responseTooLarge()
        return answer
      },
    },
  }
}

/** Executes a plan within the transaction. A response that is too large does not fail the transaction. */
const readInside = (reader: MysqlPlanReader, client: Client, values: readonly unknown[], limit: number): Promise<ReadResult | 'tooLarge'> =>
  reader.read(client, values, limit).catch((error: unknown) => {
    if (isTooLarge(error)) return 'tooLarge' as const
    throw error
  })

/** Executes tasks one after the other, up to the first failure, after which the server may have ended the transaction. */
interface StatementQueue {
  /** Failures are also available from `failure`. */
  perform<Result>(work: () => Promise<Result>): Promise<Result>
  settled(): Promise<void>
  failure(): unknown
}

/** `refuse`: returns why nothing more may be executed, or null. */
function createStatementQueue(refuse: () => Error | null): StatementQueue {
  let failure: unknown = null
  let last: Promise<unknown> = Promise.resolve()
  return {
    perform: (work) => {
      failure ??= refuse()
      const done = last.then(async () => {
        if (failure !== null) throw failure
        try {
          return await work()
        } catch (error) {
          failure ??= error
          throw error
        }
      })
      last = done.catch(() => {})
      return done
    },
    settled: async () => void (await last),
    failure: () => failure,
  }
}

export interface MysqlCommitOutcomes {
  /** Outcome of the transaction that recorded `id`. */
  find(id: string): Promise<CommitOutcome>
  /** Called after each commit; periodically deletes old rows. */
  committed(): void
}

const noteStatement = (id: string): string => `insert into ${outcomeTable} (id) values ('${id}')`

/** Milliseconds to determine an outcome, between attempts, and for one attempt. */
const patience = 10_000
const pauseBetween = 50
const lookTimeout = 5_000

/** The server's error number for a duplicate key. */
const isThere = 1062

/** Commits between cleanups, and maximum rows per cleanup, which deletes those older than an hour. */
const commitsBetween = 1_000
const removedRows = 2_000

/**
 * `small`: a pool with short waits. On a Galera node, a read could miss a commit in transit from another node, so the id is inserted, which
 * only one of the two transactions can do.
 */
export function createCommitOutcomes(small: Pool): MysqlCommitOutcomes {
  let commits = 0

  const look = (id: string) =>
    onClient(
      small,
      (client) =>
        client.query(client.isGalera ? noteStatement(id) : `select id from ${outcomeTable} where id = '${id}' lock in share mode`),
      lookTimeout,
    )
  const removal = `delete from ${outcomeTable} where written_at < from_unixtime(unix_timestamp() - 3600) limit ${removedRows}`

  return {
    find: async (id) => {
      const end = elapsed() + patience
      while (elapsed() < end) {
        try {
          // Waits for the lock of a running transaction.
          const { rows } = await look(id)
          return rows.length > 0 ? 'committed' : 'aborted'
        } catch (error) {
          if (getErrno(error) === isThere) return 'committed'
          if (!isConnectionLoss(error) && !isConflict(error)) return 'unknown'
        }
        await pause(pauseBetween)
      }
      return 'unknown'
    },
    committed: () => {
      if (++commits % commitsBetween !== 0) return
      onClient(small, (client) => client.query(removal), lookTimeout).catch(() => {})
    },
  }
}
