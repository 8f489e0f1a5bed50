// Sends the statements of one transaction in their order, each without waiting for the result of those before it.
import type pg from 'pg'
import { type PreparedStatement, type Statements, sendTogether } from './connection.js'

export interface Sender {
  readonly client: pg.PoolClient
  /** Executes a statement after earlier ones. Failures are also available from `failure`. */
  perform<Result>(text: string, execute: (statement: PreparedStatement) => Promise<Result>): Promise<Result>
  /** Resolves when nothing waits to be sent, and what could not be sent is a failure. */
  sent(): Promise<void>
  /** Resolves when every result so far is there, and `failure` knows it. */
  settled(): Promise<void>
  /** Executes words of the transaction itself, which have no values. Resolves to what the server says that it did. */
  control(words: string): Promise<string>
  /** The first failure; null: nothing has failed. */
  failure(): unknown
}

/** `refuse`: why nothing more may be sent; null: it may. */
export function createSender(client: pg.PoolClient, statements: Statements, refuse: () => Error | null): Sender {
  const results = createResults()
  const { watched } = results
  /** Statements that wait for the types of an earlier one; null: none. */
  let waiting: Promise<void> | null = null

  /** Sends something when all before it has been sent. */
  function sendInOrder<Result>(send: () => Promise<{ readonly result: Promise<Result> }>): Promise<Result> {
    const sent = (waiting ?? Promise.resolve()).then(send)
    const turn: Promise<void> = sent.then(
      () => {},
      () => {},
    )
    waiting = turn
    turn.then(() => {
      if (waiting === turn) waiting = null
    })
    return sent.then(({ result }) => result)
  }

  return {
    client,
    failure: results.failure,
    perform: (text, execute) => {
      results.fail(refuse())
      if (results.failure() !== null) return watched(Promise.reject(results.failure()))
      const together = (statement: PreparedStatement) => {
        sendTogether(client)
        return execute(statement)
      }
      const known = waiting === null ? statements.known(text) : undefined
      if (known !== undefined) return watched(together(known))
      return watched(
        sendInOrder(async () => {
          const statement = statements.known(text) ?? (await statements.describe(text))
          if (results.failure() !== null) throw results.failure()
          return { result: together(statement) }
        }),
      )
    },
    sent: async () => {
      if (waiting === null) return
      while (waiting !== null) await waiting
      await new Promise((resolve) => setImmediate(resolve))
    },
    settled: results.settled,
    control: async (words) => {
      while (waiting !== null) await waiting
      sendTogether(client)
      return (await watched(client.query(words))).command
    },
  }
}

/** The results of one transaction, and the first failure. */
function createResults() {
  let failure: unknown = null
  const pending = new Set<Promise<void>>()
  return {
    failure: () => failure,
    /** Notes why the transaction has failed; null: it has not. */
    fail: (error: Error | null) => {
      failure ??= error
    },
    settled: async () => void (await Promise.all(pending)),
    watched<Result>(result: Promise<Result>): Promise<Result> {
      const noted = result.catch((error: unknown) => {
        failure ??= error
        throw error
      })
      const settled: Promise<void> = noted.then(
        () => void pending.delete(settled),
        () => void pending.delete(settled),
      )
      pending.add(settled)
      return noted
    },
  }
}
