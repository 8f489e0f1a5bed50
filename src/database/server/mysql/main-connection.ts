// Small statements beside the reads of content.
import type { MainConnection } from '../../database.js'
import { lossRetrier } from '../retry.js'
import { type Client, objectsOf } from './client.js'
import { explained, isConnectionLoss, isTimeout } from './errors.js'
import { execute, type MysqlStatements } from './statements.js'
import { writeMysqlSql } from './words.js'

/** Lends a connection: the only one, or one of a pool whose connections are free soon. */
export type MysqlLend = <Result>(work: (client: Client) => Promise<Result>) => Promise<Result>

/** `failed` receives losses of connections, also those that no caller notices. */
export function openMainConnection(
  lend: MysqlLend,
  statements: MysqlStatements,
  failed: (error: Error) => void = () => {},
): MainConnection {
  const retried = lossRetrier({ isConnectionLoss, isTimeout }, failed)
  return {
    // Neither server tells cheaply, and in order with commits, whether anything was committed: it is looked at what was.
    isRemote: true,
    changed: async () => true,
    rows: async (query) => {
      const { text, values } = writeMysqlSql(query)
      try {
        return objectsOf(await retried(() => lend((client) => execute(statements, client, text, values)))) as never
      } catch (error) {
        throw explained(error)
      }
    },
  }
}
