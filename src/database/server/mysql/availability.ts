// Connects to a project's MySQL or MariaDB server.
import type { ServerSettings } from '../../../foundation/config/database.js'
import { ConfigError } from '../../../foundation/errors/errors.js'
import type { MainConnection } from '../../database.js'
import type { Dialect } from '../../dialect.js'
import { formatServer, type Lend, type ServerConnection, unusableServer } from '../kind.js'
import { lossRetrier } from '../retry-transaction.js'
import { type Client, toObjects } from './client.js'
import { type MysqlServer, mysqlDialects } from './dialect.js'
import { isConnectionLoss, isTimeout, toApiError } from './errors.js'
import { onClient, openPool, type Pool } from './pool.js'
import { execute } from './translate-sql.js'

/** Connections for permissions and health checks. */
const smallPool = 2

export interface MysqlServerConnection extends ServerConnection<Pool> {
  readonly dialect: Dialect
  /** Whether the server was a node of a Galera cluster at the start. Later connections may differ (`Client.isGalera`). */
  readonly isGalera: boolean
}

/** Opens the small pool and checks that the server responds. @throws ConfigError */
export async function connectToServer(
  settings: ServerSettings,
  failed: (error: Error) => void = () => {},
  name = `The database at ${formatServer('mysql', settings)}`,
): Promise<MysqlServerConnection> {
  if (settings.url !== null && !/^(?:mysql|mariadb):\/\//.test(settings.url))
    throw new ConfigError('DATABASE_URL is not one of MySQL or MariaDB: it begins with mysql://')
  const small = openPool(settings, { max: smallPool, failed })
  try {
    const dialect = mysqlDialects[await checkServer(small)]
    return { settings, small, dialect, isGalera: await onClient(small, async (client) => client.isGalera), close: () => small.close() }
  } catch (error) {
    await small.close()
    throw unusableServer(name, error)
  }
}

/** Minimum versions: statements need JSON_TABLE and collations without padding. */
const oldest: Readonly<Record<MysqlServer, readonly number[]>> = { MariaDB: [10, 11, 0], MySQL: [8, 0, 19] }

/** Identifies the server. @throws ConfigError if its version is not supported */
export async function checkServer(pool: Pool): Promise<MysqlServer> {
  const { rows } = await onClient(pool, (client) => client.query('select version()'))
  const version = String(rows[0]![0])
  // A proxy may prefix MariaDB's version with another number.
  const ofMaria = /(\d{1,3})\.(\d{1,3})\.(\d{1,3})-mariadb/i.exec(version)
  const name = ofMaria === null ? 'MySQL' : 'MariaDB'
  const numbers = (ofMaria ?? /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})/.exec(version) ?? []).slice(1).map(Number)
  const behind = oldest[name].map((least, index) => (numbers[index] ?? 0) - least).find((difference) => difference !== 0) ?? 0
  if (behind < 0) throw new ConfigError(`The server is ${name} ${version}; ${oldest[name].join('.')} or later is needed`)
  return name
}

/** `failed` is called on each connection loss, including those that are retried. */
export function createMainConnection(lend: Lend<Client>, failed: (error: Error) => void = () => {}): MainConnection {
  const retried = lossRetrier({ isConnectionLoss, isTimeout }, failed)
  return {
    // Neither server reports commits cheaply and in order, so callers always compare rows.
    isRemote: true,
    changed: async () => true,
    rows: async (query) => {
      try {
        return toObjects(await retried(() => lend((client) => execute(client, query)))) as never
      } catch (error) {
        throw toApiError(error)
      }
    },
  }
}
