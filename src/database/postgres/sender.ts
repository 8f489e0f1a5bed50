// Sends the statements of one transaction in their order, each without waiting for the result of those before it.
import type pg from 'pg'
import type { PreparedStatement, Statements } from './connection.js'

export interface Sender {
  /** Executes a statement behind those before it. Whoever does not wait for it learns of a failure by `failure`. */
  perform<Result>(text: string, execute: (statement: PreparedStatement) => Promise<Result>): Promise<Result>
  /** Resolves when nothing waits to be sent, and what could not be sent is a failure. */
  sent(): Promise<void>
  /** Executes words of the transaction itself, which have no values. Resolves to what the server says that it did. */
  control(words: string): Promise<string>
  /** The first failure; null: nothing has failed. */
  failure(): unknown
}

/** `refuse`: why nothing more may be sent; null: it may. */
export function openSender(client: pg.PoolClient, statements: Statements, refuse: () => Error | null): Sender {
  let failure: unknown = null
  /** What waits until the types of a statement before it are known; null: nothing does. */
  let waiting: Promise<void> | null = null

  /** Notes a failure, also of what nobody waits for. */
  function watched<Result>(result: Promise<Result>): Promise<Result> {
    const noted = result.catch((error: unknown) => {
      failure ??= error
      throw error
    })
    noted.catch(() => {})
    return noted
  }

  /** Sends something when all before it has been sent. */
  function inTurn<Result>(send: () => Promise<{ readonly result: Promise<Result> }>): Promise<Result> {
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
    failure: () => failure,
    perform: (text, execute) => {
      failure ??= refuse()
      if (failure !== null) return watched(Promise.reject(failure))
      const known = waiting === null ? statements.known(text) : undefined
      if (known !== undefined) return watched(execute(known))
      return watched(
        inTurn(async () => {
          const statement = statements.known(text) ?? (await statements.describe(text))
          if (failure !== null) throw failure
          return { result: execute(statement) }
        }),
      )
    },
    sent: async () => {
      if (waiting === null) return
      while (waiting !== null) await waiting
      await new Promise((resolve) => setImmediate(resolve))
    },
    control: async (words) => {
      while (waiting !== null) await waiting
      return (await watched(client.query(words))).command
    },
  }
}
