// One attempt at a transaction: its statements are sent as they come, without waiting for those before them.

import type { RawBuilder } from 'kysely'
import type pg from 'pg'
import { elapsed } from '../../runtime/clock.js'
import { AnswerTooLarge, openSink, tooLarge } from '../answer/sink.js'
import type { PlanHandle, ReadAnswer, Transaction } from '../database.js'
import { unavailable } from '../unavailable.js'
import { type Executed, executePrepared, objectsOf, type PreparedStatement, type Statements } from './connection.js'
import { postgresDialect, writePostgresSql } from './dialect.js'
import type { PlanReader } from './execute.js'

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

const roomBytes = 16 * 1024

const begun = `select set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true),
  set_config('idle_in_transaction_session_timeout', $3, true), pg_current_xact_id()::text`

/** Begins a transaction on `client`, whose statements are serializable: it succeeds only as if it had been alone. */
export function beginAttempt(client: pg.PoolClient, options: AttemptOptions): Attempt {
  const { statements, deadline } = options
  let failure: unknown = null
  let isOpen = true
  /** The statements that wait until the types of one before them are known; null: none does. */
  let waiting: Promise<void> | null = null

  const failed = (error: unknown): never => {
    failure ??= error
    throw error
  }

  /** Lets something be sent in its turn. */
  function inOrder<Result>(isKnown: boolean, send: () => Promise<{ readonly result: Promise<Result> }>): Promise<Result> {
    const before = waiting
    const sent = before === null && isKnown ? send() : (before ?? Promise.resolve()).then(send)
    if (before !== null || !isKnown) {
      const mine: Promise<void> = sent.then(
        () => {},
        () => {},
      )
      waiting = mine
      mine.then(() => {
        if (waiting === mine) waiting = null
      })
    }
    return sent.then(({ result }) => result)
  }

  function perform<Result>(text: string, execute: (statement: PreparedStatement) => Promise<Result>): Promise<Result> {
    if (!isOpen || elapsed() > deadline) failure ??= unavailable('The write took too long')
    if (failure !== null) return refused(failure)
    const known = statements.known(text)
    if (known !== undefined && waiting === null) return watched(execute(known))
    return watched(
      inOrder(known !== undefined, async () => {
        const statement = statements.known(text) ?? (await statements.describe(text))
        if (failure !== null) throw failure
        return { result: execute(statement) }
      }),
    )
  }

  /** Whoever does not wait for a statement learns of its failure at the commit. */
  function watched<Result>(result: Promise<Result>): Promise<Result> {
    const noted = result.catch(failed)
    noted.catch(() => {})
    return noted
  }

  const run = (query: RawBuilder<unknown>, suffix = ''): Promise<Executed> => {
    const { text, values } = writePostgresSql(query)
    return perform(text + suffix, (statement) => executePrepared(client, statement, values))
  }

  async function read(plan: PlanHandle, values: readonly unknown[], isBounded = false): Promise<ReadAnswer> {
    const reader = options.readerOf(plan)
    const sink = openSink(isBounded ? options.writtenBytes : Number.MAX_SAFE_INTEGER)
    const room = Buffer.allocUnsafe(roomBytes)
    sink.begin(room)
    try {
      const isFound = await perform(reader.text, (statement) => reader.read(client, statement, values, sink))
      if (!isFound) return null
    } catch (error) {
      throw error instanceof AnswerTooLarge ? tooLarge() : error
    }
    const { length, own } = sink.end()
    return { bytes: own ?? room.subarray(0, length), release: () => {} }
  }

  const end = async (word: 'commit' | 'rollback'): Promise<string> => {
    isOpen = false
    await waiting
    return (await client.query(word)).command
  }

  watched(client.query('begin isolation level serializable'))
  // The lock comes before the first snapshot: what whoever had it before has written is in it.
  if (options.inTurn) watched(client.query('lock table octavo_write_turns in exclusive mode'))
  const settings = [options.statementTimeout, options.lockTimeout, idleTimeout]
  const id = perform(begun, (statement) => executePrepared(client, statement, settings)).then(({ rows }) => String(rows[0]![3]))
  id.catch(() => {})
  return {
    id,
    failure: () => failure,
    transaction: {
      dialect: postgresDialect,
      // Nobody here knows what others write meanwhile.
      generation: { before: 0, after: () => 1, keep: () => {} },
      rows: async (query) => objectsOf(await run(query)) as never,
      run: async (query) => ({ rows: (await run(query)).changed }),
      insert: async (query, key = 'id') => Number((await run(query, ` returning "${key}"`)).rows[0]![0]),
      follow: (query) => void run(query),
      read,
    },
    commit: async () => {
      if (failure !== null) throw failure
      const command = await end('commit')
      // A transaction that failed answers a commit with a rollback.
      if (command !== 'COMMIT') throw failure ?? new Error('The transaction was not committed')
    },
    rollback: async () => void (await end('rollback')),
  }
}

function refused(error: unknown): Promise<never> {
  const refusal = Promise.reject(error)
  refusal.catch(() => {})
  return refusal
}
