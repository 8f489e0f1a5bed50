// Small statements beside the reads of content, and the look whether anything was committed.

import { shared } from '../../../foundation/runtime/shared-calls.js'
import type { MainConnection } from '../../database.js'
import { lossRetrier } from '../retry.js'
import { type AskServer, type Connection, type Executed, execute, objectsOf, type Statements } from './connection.js'
import { writePostgresSql } from './dialect.js'
import { explained, isConflict, isConnectionLoss, isTimeout } from './errors.js'

/**
 * Another text once a transaction that wrote has ended, here or elsewhere: which transactions a snapshot sees. A server that was started
 * again may have forgotten transactions, and gives their ids to others.
 */
const snapshot = 'select pg_current_snapshot()::text, pg_postmaster_start_time()::text'

/** Lends a connection: the only one, or one of a pool whose connections are free soon. */
export type Lend = <Result>(work: (connection: Connection) => Promise<Result>) => Promise<Result>

export interface PostgresMain extends MainConnection {
  readonly ask: AskServer
}

/** `failed` receives losses of connections, also those that no caller notices. */
export function openMainConnection(lend: Lend, statements: Statements, failed: (error: Error) => void = () => {}): PostgresMain {
  const retried = lossRetrier({ isConnectionLoss, isTimeout, isConflict }, failed)
  let seen = ''

  async function run(text: string, values: readonly unknown[]): Promise<Executed> {
    try {
      return await retried(() => lend((connection) => execute(statements, connection, text, values)))
    } catch (error) {
      throw explained(error)
    }
  }

  const look = shared(async () => {
    try {
      const { rows } = await run(snapshot, [])
      return rows[0]!.join(' ')
    } catch (error) {
      // Whatever happens while nobody can look counts as a change.
      seen = ''
      throw error
    }
  })
  return {
    ask: async (text, values) => (await run(text, values)).rows,
    isRemote: true,
    changed: async () => {
      const now = await look()
      if (now === seen) return false
      seen = now
      return true
    },
    rows: async (query) => {
      const { text, values } = writePostgresSql(query)
      return objectsOf(await run(text, values)) as never
    },
  }
}
