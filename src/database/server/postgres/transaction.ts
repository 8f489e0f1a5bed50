// One attempt at a transaction: its statements are sent as they come, without waiting for those before them.

import { randomUUID } from 'node:crypto'
import type { RawBuilder } from 'kysely'
import type pg from 'pg'
import { elapsed, pause } from '../../../foundation/runtime/clock.js'
import { type ChangedTables, collectChanged } from '../../cache/table-changes.js'
import type { PlanHandle, ReadAnswer, Transaction } from '../../database.js'
import { unavailable } from '../../errors.js'
import { isTooLarge, tooLarge } from '../../response/sink.js'
import { runParts, type Turn, type TurnOutcome } from '../group-commit.js'
import type { CommitOutcome } from '../retry-transaction.js'
import { type CommitLogAccess, logCommit } from './commit-log.js'
import { confirmReplication, type Executed, execute, executePrepared, objectsOf, onConnection, type Statements } from './connection.js'
import { epochTable, turnTable } from './create-tables.js'
import { postgresDialect, writePostgresSql } from './dialect.js'
import { codeOf, isConflict, isConnectionLoss, isLockWait } from './errors.js'
import type { OwnTransaction, OwnTransactions } from './history.js'
import type { PlanReader } from './reads.js'
import { openSender, type Sender } from './sender.js'

/** What a transaction is executed with. */
export interface AttemptOptions {
  readonly statements: Statements
  readonly own: OwnTransactions
  readonly log: CommitLogAccess
  readerOf(plan: PlanHandle): PlanReader
  /** The largest answer of a bounded read; bytes. */
  readonly writtenBytes: number
  /** When the transaction is over its time (`elapsed`). */
  readonly deadline: number
  /** Milliseconds that one statement may take. */
  readonly statementTimeout: number
}

/** A transaction under way on one connection. */
export interface Attempt {
  readonly transaction: Transaction
  /** The first failure; null: nothing has failed. */
  failure(): unknown
  /** Resolves to the transaction's id; rejects where it never got one. */
  readonly id: Promise<string>
  /** Commits. @throws the first failure where there is one: nothing is committed then */
  commit(): Promise<void>
  rollback(): Promise<void>
}

/** A transaction that was begun: its connection, what it is executed with, and what is known of it. */
interface Begun {
  readonly client: pg.PoolClient
  readonly options: AttemptOptions
  readonly own: OwnTransaction
  readonly changed: ChangedTables
}

const begun = (client: pg.PoolClient, options: AttemptOptions): Begun => ({
  ...{ client, options },
  own: options.own.begin(),
  changed: collectChanged(),
})

/** Milliseconds that a transaction may do nothing: whatever holds it up, its locks are released. */
const idleTimeout = 30_000

/** Milliseconds that a statement waits for a lock; less where other transactions wait for this one. */
const [lockTimeout, lockTimeoutInTurn] = [3_000, 500]

/**
 * What begins a transaction. Rows are looked up by indexes also where a table is small: reading all of it conflicts with everybody who
 * writes to it, and plans that a connection keeps stay as they are when the table has grown.
 */
const beginning = ({ statementTimeout }: AttemptOptions): string =>
  [
    'begin isolation level serializable',
    `set local statement_timeout = ${statementTimeout}`,
    `set local lock_timeout = ${lockTimeout}`,
    `set local idle_in_transaction_session_timeout = ${idleTimeout}`,
    'set local enable_seqscan = off',
    'set local jit = off',
    // Before the first snapshot: a change of the model that is under way is waited for, and seen (lockTables).
    'lock table octavo_model_history in row share mode',
  ].join('; ')

/** What lets others that take turns wait. It comes before the first snapshot: what whoever was before has written is in it. */
const takeTurn = `lock table ${turnTable} in exclusive mode; set local lock_timeout = ${lockTimeoutInTurn}`

/** Begins a transaction on `client`, whose statements are serializable: it succeeds only as if it had been alone. */
export function beginAttempt(client: pg.PoolClient, options: AttemptOptions): Attempt {
  const { statements, deadline } = options
  const under = begun(client, options)
  const { own, changed } = under
  let isOpen = true
  const sender = openSender(client, statements, () => (isOpen && elapsed() <= deadline ? null : unavailable('The write took too long')))
  sender.control(beginning(options)).catch(() => {})
  const id = idOf(client, sender, own)
  return {
    id,
    failure: sender.failure,
    transaction: openPart(under, sender, null).transaction,
    commit: async () => {
      logCommit(sender, options.log, changed.all())
      isOpen = false
      await commitSent(sender, own, id)
    },
    rollback: async () => {
      isOpen = false
      await sender.control('rollback')
    },
  }
}

/** Commits what was sent. @throws the first failure where there is one: nothing is committed then */
async function commitSent(sender: Sender, own: OwnTransaction, id: Promise<string>): Promise<void> {
  // By its id the server is asked what became of the transaction, should the answer to the commit be lost.
  await id.catch(() => {})
  await sender.sent()
  const failure = sender.failure()
  if (failure !== null) {
    await sender.control('rollback').catch(() => {})
    throw failure
  }
  own.committing()
  const command = await sender.control('commit')
  // A transaction that failed answers a commit with a rollback. The commit may resolve before the statement that failed rejects.
  if (command !== 'COMMIT') await sender.settled()
  if (command !== 'COMMIT') throw sender.failure() ?? new Error('The transaction was not committed')
}

/** The id of the transaction under way. */
function idOf(client: pg.PoolClient, sender: Sender, own: OwnTransaction): Promise<string> {
  const id = sender
    .perform('select pg_current_xact_id()::text', (statement) => executePrepared(client, statement, []))
    .then(({ rows }) => {
      own.identified(Number(rows[0]![0]))
      return String(rows[0]![0])
    })
  id.catch(() => {})
  return id
}

/** One write in a transaction. */
interface Part {
  readonly transaction: Transaction
  /** Whether it has sent what may write. */
  hasWritten(): boolean
}

/** `deferred`: takes what is waited for before the commit; null: the write waits for it itself. */
function openPart({ client, options, own, changed }: Begun, sender: Sender, deferred: Promise<unknown>[] | null): Part {
  let hasWritten = false
  const run = (query: RawBuilder<unknown>, suffix = ''): Promise<Executed> => {
    const { text, values } = writePostgresSql(query)
    hasWritten ||= !isSelect.test(text)
    changed.add(text)
    return sender.perform(text + suffix, (statement) => executePrepared(client, statement, values))
  }
  const transaction: Transaction = {
    dialect: postgresDialect,
    history: own.next(() => hasWritten),
    rows: async (query) => objectsOf(await run(query)) as never,
    run: async (query) => ({ rows: (await run(query)).changed }),
    insert: async (query, key = 'id') => Number((await run(query, ` returning "${key}"`)).rows[0]![0]),
    follow: (query) => void run(query),
    defer: async (last) => {
      if (deferred === null) return void (await last)
      last.catch(() => {})
      deferred.push(last)
    },
    read: (plan, values, isBounded = false) => readInside(client, sender, options, { plan, values, isBounded }),
  }
  return { transaction, hasWritten: () => hasWritten }
}

/** What only reads. */
const isSelect = /^\s*select\b/i

/** Writes that were executed in one transaction, which is still to be committed. */
export interface Together extends Omit<Attempt, 'transaction'> {
  readonly outcomes: readonly TurnOutcome[]
}

/**
 * Executes writes one after the other in one transaction on `client`. What fails by itself is taken back alone: with `isMarked`, savepoints
 * mark where each begins; without, only what has not written yet can be. Resolves to null where one fails that had written, and nothing
 * marks where it began.
 * @throws what fails the transaction: a conflict, or the loss of the connection. As with null, it is not taken back yet
 */
export async function runTogether(
  client: pg.PoolClient,
  turns: readonly Turn[],
  options: AttemptOptions,
  isMarked: boolean,
): Promise<Together | null> {
  const under = begun(client, options)
  const { own, changed } = under
  const outer = openSender(client, options.statements, () => null)
  outer.control(`${beginning(options)}; ${takeTurn}`).catch(() => {})
  const id = idOf(client, outer, own)
  await outer.sent()
  // Sent with what follows it.
  const mark = (isFirst: boolean) =>
    void outer.control(isFirst ? 'savepoint turn' : 'release savepoint turn; savepoint turn').catch(() => {})
  const isLost = (error: unknown) => outer.failure() !== null || (isConflict(error) && !isLockWait(error)) || isConnectionLoss(error)
  const isShared = !isMarked && turns.length > 1
  let needsMarks = false
  const deferred: Promise<unknown>[] | null = isShared ? [] : null
  const outcomes = await runParts(turns, {
    mark: isMarked ? mark : () => {},
    run: (turn) =>
      runPart(under, turn, deferred, (error, hasWritten) => {
        needsMarks ||= hasWritten && isShared && !isLost(error)
      }),
    takeBack: async () => isMarked && outer.control('rollback to savepoint turn'),
    isFatal: (error) => isLost(error) || needsMarks || turns.length === 1,
  })
    .then(async (executed) => {
      await Promise.all(deferred ?? [])
      return executed
    })
    .catch((error: unknown) => {
      if (needsMarks) return null
      throw outer.failure() ?? error
    })
  if (outcomes === null) return null
  if (outer.failure() !== null) throw outer.failure()
  return {
    id,
    outcomes,
    failure: outer.failure,
    commit: async () => {
      logCommit(outer, options.log, changed.all())
      await commitSent(outer, own, id)
    },
    rollback: async () => void (await outer.control('rollback')),
  }
}

/**
 * Executes a write to its end, or until all that is left of it is in `deferred`. `failed` is told what it fails with, and whether it has written or the
 * server has refused a statement.
 */
async function runPart(
  under: Begun,
  { work, deadline }: Turn,
  deferred: Promise<unknown>[] | null,
  failed: (error: unknown, hasWritten: boolean) => void,
): Promise<unknown> {
  let isOpen = true
  const refuse = () => (isOpen && elapsed() <= deadline ? null : unavailable('The write took too long'))
  const sender = openSender(under.client, under.options.statements, refuse)
  const last: Promise<unknown>[] = []
  const part = openPart(under, sender, deferred === null ? null : last)
  const sent = () => {
    isOpen = false
    return sender.sent()
  }
  const settled = async () => {
    await Promise.all(last)
    await sender.settled()
    if (sender.failure() !== null) throw sender.failure()
  }
  const fail = async (error: unknown): Promise<never> => {
    await sent()
    await sender.settled()
    const failure = sender.failure() ?? error
    failed(failure, part.hasWritten() || sender.failure() !== null)
    throw failure
  }
  try {
    const result = await work(part.transaction)
    await sent()
    const end = settled()
    if (deferred === null) await end
    else {
      const over = end.catch(fail)
      over.catch(() => {})
      deferred.push(over)
    }
    return result
  } catch (error) {
    return fail(error)
  }
}

interface InsideRead {
  readonly plan: PlanHandle
  readonly values: readonly unknown[]
  readonly isBounded: boolean
}

/** Answers a plan as the transaction sees the database. */
async function readInside(
  client: pg.PoolClient,
  sender: Sender,
  { readerOf, writtenBytes }: AttemptOptions,
  { plan, values, isBounded }: InsideRead,
): Promise<ReadAnswer> {
  const reader = readerOf(plan)
  const limit = isBounded ? writtenBytes : Number.MAX_SAFE_INTEGER
  const answer = await sender.perform(reader.text, (statement) =>
    // An answer that is too large is no failure of the transaction.
    reader.read(client, statement, { values, limit, isCommitted: false, standby: null }).catch((error: unknown) => {
      if (isTooLarge(error)) return 'tooLarge' as const
      throw error
    }),
  )
  if (answer === 'tooLarge') throw tooLarge()
  return answer
}

export interface Outcomes {
  /** Which epoch of the server a transaction begins in; it lasts until the next crash. */
  epoch(): Promise<string>
  /** What became of a transaction that began in `epoch`. Ends it where the server still waits for its commit. */
  outcomeOf(id: string, epoch: string): Promise<CommitOutcome>
  /** What became of a transaction that is committed on the primary: that, once standbys have it where commits wait for them. */
  onceReplicated(): Promise<CommitOutcome>
}

/** Milliseconds in which an outcome can be found out, between two looks, and for one look. */
const [patience, pauseBetween, lookTimeout] = [10_000, 50, 2_000]

const statusOf = `select pg_xact_status(cast($1 as xid8)), (select epoch from ${epochTable} where id = 1)`

/** Nobody can commit it any more: its connection is lost. The session may not have noticed. */
const endSession = `select pg_terminate_backend(pid) from pg_stat_activity
  where cast(cast(backend_xid as text) as bigint) = cast($1 as bigint) % 4294967296`

/** What became of what is committed on the primary: that, once standbys have it. */
const onceReplicated = (small: pg.Pool): Promise<CommitOutcome> =>
  onConnection(small, confirmReplication, lookTimeout).then(
    () => 'committed',
    () => 'unknown',
  )

/** `small`: a pool whose connections are free soon. */
export function openOutcomes(small: pg.Pool, statements: Statements): Outcomes {
  let current: Promise<string> | null = null

  const ask = (text: string, values: readonly unknown[]) =>
    onConnection(small, (client) => execute(statements, client, text, values), lookTimeout)

  async function read(): Promise<string> {
    const insert = `insert into ${epochTable} (id, epoch) values (1, $1) on conflict do nothing`
    await ask(insert, [randomUUID()])
    const { rows } = await ask(`select epoch from ${epochTable} where id = 1`, [])
    return String(rows[0]![0])
  }

  function epoch(): Promise<string> {
    current ??= read().catch(() => {
      current = null
      // No transaction has begun in it: their outcomes are not trusted.
      return ''
    })
    return current
  }

  async function look(id: string, begunIn: string): Promise<CommitOutcome | 'in progress'> {
    const { rows } = await ask(statusOf, [id])
    const [status, now] = rows[0]!
    if (status === 'aborted') return 'aborted'
    if (now !== begunIn) {
      // The next transactions begin in the epoch that is now.
      current = null
      return 'unknown'
    }
    if (status === 'in progress') await ask(endSession, [id])
    return status === 'committed' || status === 'in progress' ? status : 'unknown'
  }

  return {
    epoch,
    onceReplicated: () => onceReplicated(small),
    outcomeOf: async (id, begunIn) => {
      const end = elapsed() + patience
      while (elapsed() < end) {
        try {
          const outcome = await look(id, begunIn)
          // It may be so on the primary alone.
          if (outcome === 'committed') return onceReplicated(small)
          if (outcome !== 'in progress') return outcome
        } catch (error) {
          // The id lies in the future: the server has crashed, and nothing of the transaction had reached its disk.
          if (codeOf(error) === '22023') return 'aborted'
          if (!isConnectionLoss(error)) return 'unknown'
        }
        await pause(pauseBetween)
      }
      return 'unknown'
    },
  }
}
