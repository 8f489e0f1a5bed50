// One attempt at a transaction: its statements are sent as they come, without waiting for those before them.

import type { RawBuilder } from 'kysely'
import type pg from 'pg'
import { elapsed } from '../../runtime/clock.js'
import { isTooLarge, tooLarge } from '../answer/sink.js'
import type { PlanHandle, ReadAnswer, Transaction } from '../database.js'
import { unavailable } from '../unavailable.js'
import { type Executed, executePrepared, objectsOf, type Statements } from './connection.js'
import { turnTable } from './create-tables.js'
import { postgresDialect, writePostgresSql } from './dialect.js'
import type { PlanReader } from './execute.js'
import { openSender, type Sender } from './sender.js'

/** What a transaction is executed with. */
export interface AttemptOptions {
  readonly statements: Statements
  readerOf(plan: PlanHandle): PlanReader
  /** The largest answer of a bounded read; bytes. */
  readonly writtenBytes: number
  /** When the transaction is over its time (`elapsed`). */
  readonly deadline: number
  /** Milliseconds that one statement may take, and that it may wait for a lock. */
  readonly statementTimeout: number
  readonly lockTimeout: number
  /** Whether transactions that take turns exclude each other. */
  readonly inTurn: boolean
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

/** Milliseconds that a transaction may do nothing: whatever holds it up, its locks are released. */
const idleTimeout = 30_000

/** What begins a transaction. The lock comes before the first snapshot: what whoever had it before has written is in it. */
const beginning = ({ statementTimeout, lockTimeout, inTurn }: AttemptOptions): string =>
  [
    'begin isolation level serializable',
    `set local statement_timeout = ${statementTimeout}`,
    `set local lock_timeout = ${lockTimeout}`,
    `set local idle_in_transaction_session_timeout = ${idleTimeout}`,
    ...(inTurn ? [`lock table ${turnTable} in exclusive mode`] : []),
  ].join('; ')

/** Begins a transaction on `client`, whose statements are serializable: it succeeds only as if it had been alone. */
export function beginAttempt(client: pg.PoolClient, options: AttemptOptions): Attempt {
  const { statements, deadline } = options
  let isOpen = true
  const sender = openSender(client, statements, () => (isOpen && elapsed() <= deadline ? null : unavailable('The write took too long')))
  const run = (query: RawBuilder<unknown>, suffix = ''): Promise<Executed> => {
    const { text, values } = writePostgresSql(query)
    return sender.perform(text + suffix, (statement) => executePrepared(client, statement, values))
  }
  sender.control(beginning(options)).catch(() => {})
  const id = sender
    .perform('select pg_current_xact_id()::text', (statement) => executePrepared(client, statement, []))
    .then(({ rows }) => String(rows[0]![0]))
  id.catch(() => {})
  return {
    id,
    failure: sender.failure,
    transaction: {
      dialect: postgresDialect,
      // Nobody here knows what others write meanwhile.
      generation: { before: 0, after: () => 1, keep: () => {} },
      rows: async (query) => objectsOf(await run(query)) as never,
      run: async (query) => ({ rows: (await run(query)).changed }),
      insert: async (query, key = 'id') => Number((await run(query, ` returning "${key}"`)).rows[0]![0]),
      follow: (query) => void run(query),
      read: (plan, values, isBounded = false) => readInside(client, sender, options, { plan, values, isBounded }),
    },
    commit: async () => {
      isOpen = false
      // By its id the server is asked what became of the transaction, should the answer to the commit be lost.
      await id.catch(() => {})
      await sender.sent()
      const failure = sender.failure()
      if (failure !== null) {
        await sender.control('rollback').catch(() => {})
        throw failure
      }
      const command = await sender.control('commit')
      // A transaction that failed answers a commit with a rollback. The commit may resolve before the statement that failed rejects.
      if (command !== 'COMMIT') await sender.settled()
      if (command !== 'COMMIT') throw sender.failure() ?? new Error('The transaction was not committed')
    },
    rollback: async () => {
      isOpen = false
      await sender.control('rollback')
    },
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
    reader.read(client, statement, { values, limit, isCommitted: false }).catch((error: unknown) => {
      if (isTooLarge(error)) return 'tooLarge' as const
      throw error
    }),
  )
  if (answer === 'tooLarge') throw tooLarge()
  return answer
}
