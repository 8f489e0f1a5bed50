// A single attempt at a transaction, whose statements are pipelined.

import { randomUUID } from 'node:crypto'
import type { RawBuilder } from 'kysely'
import type pg from 'pg'
import { elapsed, pause } from '../../../foundation/runtime/clock.js'
import { type ChangedTables, collectChangedTables } from '../../cache/table-changes.js'
import type { PlanHandle, ReadResult, Transaction } from '../../database.js'
import { unavailableError } from '../../errors.js'
import { isTooLarge, responseTooLarge } from '../../response/write.js'
import { type QueuedWrite, runWrites, type WriteOutcome } from '../group-commit.js'
import type { CommitOutcome } from '../retry-transaction.js'
import { type CommitLogAccess, logCommit } from './commit-log.js'
import { epochTable, turnTable } from './create-tables.js'
import { postgresDialect, writePostgresSql } from './dialect.js'
import { getCode, isConflict, isConnectionLoss, isLockWait } from './errors.js'
import type { OwnTransaction, OwnTransactions } from './history.js'
import { confirmReplication, type Executed, execute, executePrepared, onConnection, type Statements, toObjects } from './pool.js'
import type { PlanReader } from './reads.js'
import { createStatementPipeline, type StatementPipeline } from './statement-pipeline.js'

export interface AttemptOptions {
  readonly statements: Statements
  readonly own: OwnTransactions
  readonly log: CommitLogAccess
  readerOf(plan: PlanHandle): PlanReader
  /** Maximum bytes of a bounded read's response. */
  readonly writtenBytes: number
  readonly deadline: number
  /** Statement timeout in milliseconds. */
  readonly statementTimeout: number
}

export interface Attempt {
  readonly transaction: Transaction
  failure(): unknown
  /** The transaction's id; rejects if it could not be read. */
  readonly id: Promise<string>
  /** Commits. @throws the first failure, if any, after which nothing is committed */
  commit(): Promise<void>
  rollback(): Promise<void>
}

interface BegunTransaction {
  readonly client: pg.PoolClient
  readonly options: AttemptOptions
  readonly own: OwnTransaction
  readonly changed: ChangedTables
}

const beginTransaction = (client: pg.PoolClient, options: AttemptOptions): BegunTransaction => ({
  client,
  options,
  own: options.own.begin(),
  changed: collectChangedTables(),
})

/** Maximum idle milliseconds of a transaction, after which its locks are released. */
const idleTimeoutMs = 30_000

/** Lock timeouts in milliseconds, the shorter one for grouped writes, which others wait for. */
const lockTimeoutMs = 3_000
const groupLockTimeoutMs = 500

/**
 * Begins a transaction. Without sequential scans, even of small tables: they conflict with every writer of the table, and cached plans
 * remain in use when it has grown.
 */
const beginning = ({ statementTimeout }: AttemptOptions): string =>
  [
    'begin isolation level serializable',
    `set local statement_timeout = ${statementTimeout}`,
    `set local lock_timeout = ${lockTimeoutMs}`,
    `set local idle_in_transaction_session_timeout = ${idleTimeoutMs}`,
    'set local enable_seqscan = off',
    'set local jit = off',
    // Before the first snapshot: waits for a model change in progress, which is then visible (lockTables).
    'lock table octavo_model_history in row share mode',
  ].join('; ')

/** Takes the lock of grouped writes before the first snapshot, which therefore includes the effects of earlier groups. */
const lockGroup = `lock table ${turnTable} in exclusive mode; set local lock_timeout = ${groupLockTimeoutMs}`

/** Begins a serializable transaction on `client`. */
export function beginAttempt(client: pg.PoolClient, options: AttemptOptions): Attempt {
  const { statements, deadline } = options
  const begun = beginTransaction(client, options)
  const { own, changed } = begun
  let isOpen = true
  const pipeline = createStatementPipeline(client, statements, () =>
    isOpen && elapsed() <= deadline ? null : unavailableError('The write took too long'),
  )
  pipeline.control(beginning(options)).catch(() => {})
  const id = readTransactionId(client, pipeline, own)
  return {
    id,
    failure: pipeline.failure,
    transaction: beginWrite(begun, pipeline, null).transaction,
    commit: async () => {
      logCommit(pipeline, options.log, changed.all())
      isOpen = false
      await commitSent(pipeline, own, id)
    },
    rollback: async () => {
      isOpen = false
      await pipeline.control('rollback')
    },
  }
}

/** Commits. @throws the first failure; nothing is committed then */
async function commitSent(pipeline: StatementPipeline, own: OwnTransaction, id: Promise<string>): Promise<void> {
  // The id identifies the outcome if the acknowledgement of the commit is lost.
  await id.catch(() => {})
  await pipeline.sent()
  const failure = pipeline.failure()
  if (failure !== null) {
    await pipeline.control('rollback').catch(() => {})
    throw failure
  }
  own.committing()
  const command = await pipeline.control('commit')
  // COMMIT of a failed transaction rolls back, and its result may arrive before the failed statement's.
  if (command !== 'COMMIT') await pipeline.settled()
  if (command !== 'COMMIT') throw pipeline.failure() ?? new Error('The transaction was not committed')
}

/** The id of the current transaction. */
function readTransactionId(client: pg.PoolClient, pipeline: StatementPipeline, own: OwnTransaction): Promise<string> {
  const id = pipeline
    .perform('select pg_current_xact_id()::text', (statement) => executePrepared(client, statement, []))
    .then(({ rows }) => {
      own.identified(Number(rows[0]![0]))
      return String(rows[0]![0])
    })
  id.catch(() => {})
  return id
}

interface WritePart {
  readonly transaction: Transaction
  /** True once it has sent a statement that may write. */
  hasWritten(): boolean
}

/** `deferred`: collects promises to await before the commit; null: the write awaits them itself. */
function beginWrite(
  { client, options, own, changed }: BegunTransaction,
  pipeline: StatementPipeline,
  deferred: Promise<unknown>[] | null,
): WritePart {
  let hasWritten = false
  const run = (query: RawBuilder<unknown>, suffix = ''): Promise<Executed> => {
    const { text, values } = writePostgresSql(query)
    hasWritten ||= !isSelect.test(text)
    changed.add(text)
    return pipeline.perform(text + suffix, (statement) => executePrepared(client, statement, values))
  }
  const transaction: Transaction = {
    dialect: postgresDialect,
    history: own.next(() => hasWritten),
    rows: async (query) => toObjects(await run(query)) as never,
    run: async (query) => ({ rows: (await run(query)).changed }),
    insert: async (query, key = 'id') => Number((await run(query, ` returning "${key}"`)).rows[0]![0]),
    follow: (query) => void run(query),
    defer: async (last) => {
      if (deferred === null) return void (await last)
      last.catch(() => {})
      deferred.push(last)
    },
    read: (plan, values, isBounded = false) => readInside(client, pipeline, options, { plan, values, isBounded }),
  }
  return { transaction, hasWritten: () => hasWritten }
}

const isSelect = /^\s*select\b/i

/** Writes executed in one transaction that is not committed yet. */
export interface PostgresGroup extends Omit<Attempt, 'transaction'> {
  readonly outcomes: readonly WriteOutcome[]
}

/**
 * Executes writes one after the other in a transaction on `client`. A failed write is rolled back individually: with `hasSavepoints`, to its
 * savepoint; otherwise only if it has not written. Resolves to null if a savepoint would have been needed.
 * @throws errors that end the transaction: a conflict or a connection loss. As with null, it is not rolled back yet
 */
export async function runGroup(
  client: pg.PoolClient,
  writes: readonly QueuedWrite[],
  options: AttemptOptions,
  hasSavepoints: boolean,
): Promise<PostgresGroup | null> {
  const begun = beginTransaction(client, options)
  const { own, changed } = begun
  const pipeline = createStatementPipeline(client, options.statements, () => null)
  pipeline.control(`${beginning(options)}; ${lockGroup}`).catch(() => {})
  const id = readTransactionId(client, pipeline, own)
  await pipeline.sent()
  // Pipelined with the next statements.
  const setSavepoint = (isFirst: boolean) =>
    void pipeline.control(isFirst ? 'savepoint turn' : 'release savepoint turn; savepoint turn').catch(() => {})
  const isLost = (error: unknown) => pipeline.failure() !== null || (isConflict(error) && !isLockWait(error)) || isConnectionLoss(error)
  const isShared = !hasSavepoints && writes.length > 1
  let needsSavepoints = false
  const deferred: Promise<unknown>[] | null = isShared ? [] : null
  const outcomes = await runWrites(writes, {
    savepoint: hasSavepoints ? setSavepoint : () => {},
    run: (write) =>
      runWrite(begun, write, deferred, (error, hasWritten) => {
        needsSavepoints ||= hasWritten && isShared && !isLost(error)
      }),
    rollback: async () => hasSavepoints && pipeline.control('rollback to savepoint turn'),
    isFatal: (error) => isLost(error) || needsSavepoints || writes.length === 1,
  })
    .then(async (executed) => {
      await Promise.all(deferred ?? [])
      return executed
    })
    .catch((error: unknown) => {
      if (needsSavepoints) return null
      throw pipeline.failure() ?? error
    })
  if (outcomes === null) return null
  if (pipeline.failure() !== null) throw pipeline.failure()
  return {
    id,
    outcomes,
    failure: pipeline.failure,
    commit: async () => {
      logCommit(pipeline, options.log, changed.all())
      await commitSent(pipeline, own, id)
    },
    rollback: async () => void (await pipeline.control('rollback')),
  }
}

/** Executes a write until only `deferred` work is left. `failed` receives its error, and whether a rollback is required. */
async function runWrite(
  begun: BegunTransaction,
  { work, deadline }: QueuedWrite,
  deferred: Promise<unknown>[] | null,
  failed: (error: unknown, hasWritten: boolean) => void,
): Promise<unknown> {
  let isOpen = true
  const refuse = () => (isOpen && elapsed() <= deadline ? null : unavailableError('The write took too long'))
  const pipeline = createStatementPipeline(begun.client, begun.options.statements, refuse)
  const last: Promise<unknown>[] = []
  const part = beginWrite(begun, pipeline, deferred === null ? null : last)
  const sent = () => {
    isOpen = false
    return pipeline.sent()
  }
  const settled = async () => {
    await Promise.all(last)
    await pipeline.settled()
    if (pipeline.failure() !== null) throw pipeline.failure()
  }
  const fail = async (error: unknown): Promise<never> => {
    await sent()
    await pipeline.settled()
    const failure = pipeline.failure() ?? error
    failed(failure, part.hasWritten() || pipeline.failure() !== null)
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

/** Executes a plan within the transaction. */
async function readInside(
  client: pg.PoolClient,
  pipeline: StatementPipeline,
  { readerOf, writtenBytes }: AttemptOptions,
  { plan, values, isBounded }: InsideRead,
): Promise<ReadResult> {
  const reader = readerOf(plan)
  const limit = isBounded ? writtenBytes : Number.MAX_SAFE_INTEGER
  const response = await pipeline.perform(reader.text, (statement) =>
    // A response that is too large does not fail the transaction.
    reader.read(client, statement, { values, limit, isCommitted: false, standby: null }).catch((error: unknown) => {
      if (isTooLarge(error)) return 'tooLarge' as const
      throw error
    }),
  )
  if (response === 'tooLarge') throw responseTooLarge()
  return response
}

export interface PostgresCommitOutcomes {
  /** The server's current epoch, which lasts until its next crash. */
  epoch(): Promise<string>
  /** Outcome of a transaction that began in `epoch`. Ends its session if it is still open. */
  find(id: string, epoch: string): Promise<CommitOutcome>
  /** Outcome of a transaction committed on the primary, once its synchronous standbys confirm. */
  onceReplicated(): Promise<CommitOutcome>
}

/** Milliseconds to determine an outcome, between attempts, and for one attempt. */
const patienceMs = 10_000
const pauseMs = 50
const lookTimeoutMs = 2_000

const statusOf = `select pg_xact_status(cast($1 as xid8)), (select epoch from ${epochTable} where id = 1)`

/** Ends a session that has not noticed its connection loss, so that its transaction cannot be committed. */
const endSession = `select pg_terminate_backend(pid) from pg_stat_activity
  where cast(cast(backend_xid as text) as bigint) = cast($1 as bigint) % 4294967296`

const onceReplicated = (small: pg.Pool): Promise<CommitOutcome> =>
  onConnection(small, confirmReplication, lookTimeoutMs).then(
    () => 'committed',
    () => 'unknown',
  )

/** `small`: a pool with short waits. */
export function createCommitOutcomes(small: pg.Pool, statements: Statements): PostgresCommitOutcomes {
  let current: Promise<string> | null = null

  const ask = (text: string, values: readonly unknown[]) =>
    onConnection(small, (client) => execute(statements, client, text, values), lookTimeoutMs)

  async function read(): Promise<string> {
    const insert = `insert into ${epochTable} (id, epoch) values (1, $1) on conflict do nothing`
    await ask(insert, [randomUUID()])
    const { rows } = await ask(`select epoch from ${epochTable} where id = 1`, [])
    return String(rows[0]![0])
  }

  function epoch(): Promise<string> {
    current ??= read().catch(() => {
      current = null
      // Without an epoch, the outcomes of its transactions are not trusted.
      return ''
    })
    return current
  }

  async function look(id: string, begunIn: string): Promise<CommitOutcome | 'in progress'> {
    const { rows } = await ask(statusOf, [id])
    const [status, now] = rows[0]!
    if (status === 'aborted') return 'aborted'
    if (now !== begunIn) {
      // Later transactions begin in the new epoch.
      current = null
      return 'unknown'
    }
    if (status === 'in progress') await ask(endSession, [id])
    return status === 'committed' || status === 'in progress' ? status : 'unknown'
  }

  return {
    epoch,
    onceReplicated: () => onceReplicated(small),
    find: async (id, begunIn) => {
      const end = elapsed() + patienceMs
      while (elapsed() < end) {
        try {
          const outcome = await look(id, begunIn)
          // Committed on the primary, but possibly not on the standbys.
          if (outcome === 'committed') return onceReplicated(small)
          if (outcome !== 'in progress') return outcome
        } catch (error) {
          // An id in the future: the server crashed before any of the transaction reached its disk.
          if (getCode(error) === '22023') return 'aborted'
          if (!isConnectionLoss(error)) return 'unknown'
        }
        await pause(pauseMs)
      }
      return 'unknown'
    },
  }
}
