// Connects to a project's PostgreSQL server.
import type pg from 'pg'
import type { ServerSettings } from '../../../foundation/config/database.js'
import { shared } from '../../../foundation/runtime/coalesce.js'
import type { MainConnection } from '../../database.js'
import { formatServer, type Lend, type ServerConnection, unusableServer } from '../kind.js'
import { lossRetrier } from '../retry-transaction.js'
import { writePostgresSql } from './dialect.js'
import { isConflict, isConnectionLoss, isTimeout, toApiError } from './errors.js'
import { type AskServer, createStatements, type Executed, execute, openPool, type Statements, toObjects } from './pool.js'

/** Connections for permissions and health checks. */
const smallPool = 2
/** Connections for describing statements. */
const describingPool = 2

export interface PostgresServerConnection extends ServerConnection<pg.Pool> {
  readonly statements: Statements
}

/** Opens the small pool and checks that the server responds. @throws ConfigError */
export async function connectToServer(
  settings: ServerSettings,
  failed: (error: Error) => void = () => {},
  name = `The database at ${formatServer('postgres', settings)}`,
): Promise<PostgresServerConnection> {
  const small = openPool(settings, { max: smallPool, pipelined: false, failed })
  try {
    await small.query('select 1')
  } catch (error) {
    await small.end()
    throw unusableServer(name, error)
  }
  const describing = openPool(settings, { max: describingPool, pipelined: false, failed: () => {} })
  const close = async () => {
    await Promise.all([small.end(), describing.end()])
  }
  return { settings, small, statements: createStatements(describing), close }
}

/** Changes whenever a writing transaction ends, in any process. A restarted server may reuse transaction ids, hence its start time. */
const snapshot = 'select pg_current_snapshot()::text, pg_postmaster_start_time()::text'

interface PostgresMain extends MainConnection {
  readonly ask: AskServer
}

/** `failed` is called on each connection loss, including those that are retried. */
export function createMainConnection(
  lend: Lend<pg.PoolClient>,
  statements: Statements,
  failed: (error: Error) => void = () => {},
): PostgresMain {
  const retried = lossRetrier({ isConnectionLoss, isTimeout, isConflict }, failed)
  let seen = ''

  async function run(text: string, values: readonly unknown[]): Promise<Executed> {
    try {
      return await retried(() => lend((connection) => execute(statements, connection, text, values)))
    } catch (error) {
      throw toApiError(error)
    }
  }

  const look = shared(async () => {
    try {
      const { rows } = await run(snapshot, [])
      return rows[0]!.join(' ')
    } catch (error) {
      // Changes during an outage are unknown, so assume that there were some.
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
      return toObjects(await run(text, values)) as never
    },
  }
}
