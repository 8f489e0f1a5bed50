// Pipelines the statements of a transaction: sends them in order, without waiting for earlier results.
import type pg from 'pg'
import { type PreparedStatement, type Statements, sendTogether } from './pool.js'

export interface StatementPipeline {
  readonly client: pg.PoolClient
  /** Executes a statement after earlier ones. Failures are also available from `failure`. */
  perform<Result>(text: string, execute: (statement: PreparedStatement) => Promise<Result>): Promise<Result>
  /** Resolves once the send queue is empty; statements that could not be sent count as failures. */
  sent(): Promise<void>
  /** Resolves once all results so far have arrived. */
  settled(): Promise<void>
  /** Executes a transaction control statement (BEGIN, COMMIT). Resolves to the server's command tag. */
  control(statement: string): Promise<string>
  failure(): unknown
}

/** `refuse`: returns why nothing more may be sent, or null. */
export function createStatementPipeline(client: pg.PoolClient, statements: Statements, refuse: () => Error | null): StatementPipeline {
  const results = createResults()
  const { watched } = results
  /** Statements queued while an earlier one is being described; null: none. */
  let waiting: Promise<void> | null = null

  /** Calls `send` after all earlier statements have been sent. */
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
    control: async (statement) => {
      while (waiting !== null) await waiting
      sendTogether(client)
      return (await watched(client.query(statement))).command
    },
  }
}

/** Tracks the results of a transaction, and its first failure. */
function createResults() {
  let failure: unknown = null
  const pending = new Set<Promise<void>>()
  return {
    failure: () => failure,
    /** Records a failure, if any. */
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
