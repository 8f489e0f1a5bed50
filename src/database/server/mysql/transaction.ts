// One attempt at a transaction: its statements one after the other, in the order in which they were asked for.
import { randomUUID } from 'node:crypto'
import type { RawBuilder } from 'kysely'
import { elapsed, pause } from '../../../foundation/runtime/clock.js'
import { type PlanHandle, type ReadAnswer, type Transaction, unknownHistory } from '../../database.js'
import { unavailable } from '../../errors.js'
import { isTooLarge, tooLarge } from '../../response/sink.js'
import { runParts, type Turn, type TurnOutcome } from '../group-commit.js'
import type { CommitOutcome } from '../retry-transaction.js'
import { type Client, type MysqlExecuted, objectsOf } from './client.js'
import { outcomeTable, turnRow, turnTable } from './create-tables.js'
import { isConflict, isConnectionLoss, isLockWait, numberOf } from './errors.js'
import { noteWritten, onClient, type Pool } from './pool.js'
import type { MysqlPlanReader } from './reads.js'
import { execute, type MysqlStatements } from './statements.js'
import { writeMysqlSql } from './translate-sql.js'

/** What a transaction is executed with. */
export interface MysqlAttemptOptions {
  readonly statements: MysqlStatements
  readerOf(plan: PlanHandle): MysqlPlanReader
  /** The largest answer of a bounded read; bytes. */
  readonly writtenBytes: number
  /** When the transaction is over its time (`elapsed`). */
  readonly deadline: number
}

/** A transaction under way on one connection. */
export interface MysqlAttempt {
  readonly transaction: Transaction
  /** The first failure; null: nothing has failed. */
  failure(): unknown
  /** By which the outcome of the commit is found out; null: nothing was to be committed yet. */
  id(): string | null
  /** Commits. @throws the first failure where there is one: nothing is committed then */
  commit(): Promise<void>
  rollback(): Promise<void>
}

/** Begins a transaction on `client`, of a pool for writes. */
export function beginAttempt(client: Client, options: MysqlAttemptOptions): MysqlAttempt {
  const part = beginPart(client, options.deadline, options)
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

/** Writes that were executed in one transaction, which is still to be committed. */
export interface MysqlTogether extends Pick<MysqlAttempt, 'id' | 'commit' | 'rollback'> {
  readonly outcomes: readonly TurnOutcome[]
}

/**
 * Executes writes one after the other in one transaction on `client`, which excludes others that do. What fails by itself is taken back
 * alone. @throws what fails the transaction: a conflict, or the loss of the connection. It is not taken back yet
 */
export async function runTogether(client: Client, turns: readonly Turn[], options: MysqlAttemptOptions): Promise<MysqlTogether> {
  let hasWritten = false
  await takeTurn(client)
  const outcomes = await runParts(turns, {
    mark: () => client.query('savepoint turn'),
    run: async ({ work, deadline }) => {
      const part = beginPart(client, deadline, options)
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
    takeBack: () => client.query('rollback to savepoint turn'),
    isFatal: (error) => (isConflict(error) && !isLockWait(error)) || isConnectionLoss(error),
  })
  const commit = openCommit(client, () => hasWritten)
  return { outcomes, id: commit.id, commit: commit.run, rollback: () => rollback(client) }
}

/** Times that the lock is waited for, each as long as a connection waits for locks. */
const turnTries = 3

/**
 * Lets others that take turns wait. It comes before the first read: what whoever was before has written is seen. On a node of a Galera cluster the
 * row is written anew: of two transactions on two nodes that have done so, one is committed, and the other one conflicts with it.
 * @throws what the server does
 */
export async function takeTurn(client: Client): Promise<void> {
  for (let left = turnTries - 1; ; left--) {
    try {
      if (!client.isGalera) await client.query(`select id from ${turnTable} where id = ${turnRow} for update`)
      else {
        // A row that is written as it was would not count.
        await client.query(`delete from ${turnTable} where id = ${turnRow}`)
        await client.query(`insert into ${turnTable} (id) values (${turnRow})`)
      }
      return
    } catch (error) {
      if (left === 0 || !isLockWait(error)) throw error
    }
  }
}

/** A connection that may still be in the transaction is not used again. */
const rollback = async (client: Client): Promise<void> => void (await client.query('rollback').catch(() => client.cut()))

/** The end of a transaction. `id`: by which the outcome is found out, as `MysqlAttempt.id`. */
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

/** The work of one write on a connection. */
interface Part {
  readonly transaction: Transaction
  failure(): unknown
  hasWritten(): boolean
  /** Nothing more is executed; resolves when nothing is under way. */
  end(): Promise<void>
}

function beginPart(client: Client, deadline: number, { statements, readerOf, writtenBytes }: MysqlAttemptOptions): Part {
  let [isOpen, hasWritten]: [boolean, boolean] = [true, false]
  const line = openLine(() => (isOpen && elapsed() <= deadline ? null : unavailable('The write took too long')))
  const { perform } = line
  const run = (query: RawBuilder<unknown>): Promise<MysqlExecuted> => {
    const { text, values } = writeMysqlSql(query)
    return perform(() => execute(statements, client, text, values))
  }
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
      dialect: statements.dialect,
      history: unknownHistory,
      rows: async (query) => objectsOf(await run(query)) as never,
      run: async (query) => ({ rows: (await change(query)).changed }),
      insert: async (query) => (await change(query)).inserted,
      follow: (query) => void change(query).catch(() => {}),
      defer: async (last) => void (await last),
      read: async (plan, values, isBounded = false) => {
        const limit = isBounded ? writtenBytes : Number.MAX_SAFE_INTEGER
        const answer = await perform(() => readInside(readerOf(plan), client, { statements, values, limit }))
        if (answer === 'tooLarge') throw tooLarge()
        return answer
      },
    },
  }
}

interface Inside {
  readonly statements: MysqlStatements
  readonly values: readonly unknown[]
  readonly limit: number
}

/** Answers a plan as the transaction sees the database. An answer that is too large is no failure of the transaction. */
const readInside = (reader: MysqlPlanReader, client: Client, { statements, values, limit }: Inside): Promise<ReadAnswer | 'tooLarge'> =>
  reader.read(client, statements, values, limit).catch((error: unknown) => {
    if (isTooLarge(error)) return 'tooLarge' as const
    throw error
  })

/** What is executed one after the other. After a failure nothing more is: the server may have ended the transaction already. */
interface Line {
  /** Whoever does not wait for it learns of a failure by `failure`. */
  perform<Result>(work: () => Promise<Result>): Promise<Result>
  /** Resolves when nothing is under way. */
  settled(): Promise<void>
  /** The first failure; null: nothing has failed. */
  failure(): unknown
}

/** `refuse`: why nothing more may be executed; null: it may. */
function openLine(refuse: () => Error | null): Line {
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

export interface MysqlOutcomes {
  /** What became of a transaction that noted `id`. */
  outcomeOf(id: string): Promise<CommitOutcome>
  /** A transaction was committed: now and then old rows are removed. */
  committed(): void
}

/** The statement by which a transaction notes its id, which has no characters that need quotes. */
export const noteStatement = (id: string): string => `insert into ${outcomeTable} (id) values ('${id}')`

/** Milliseconds in which an outcome can be found out, between two looks, and for one look. */
const [patience, pauseBetween, lookTimeout] = [10_000, 50, 5_000]

/** The server's number of an error about a key that is there already. */
const isThere = 1062

/** Commits between two removals, and rows that one removes: those of more than an hour. */
const [commitsBetween, removedRows] = [1_000, 2_000]

/**
 * `small`: a pool whose connections are free soon. On a node of a Galera cluster, a look at what is there would say nothing of a commit that is on its
 * way from another node: the id is written, which only one of the two can do.
 */
export function openOutcomes(small: Pool): MysqlOutcomes {
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
    outcomeOf: async (id) => {
      const end = elapsed() + patience
      while (elapsed() < end) {
        try {
          // Waits for the lock of a transaction that is under way.
          const { rows } = await look(id)
          return rows.length > 0 ? 'committed' : 'aborted'
        } catch (error) {
          if (numberOf(error) === isThere) return 'committed'
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
