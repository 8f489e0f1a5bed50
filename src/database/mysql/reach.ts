// Reaches the MySQL or MariaDB server of a project.
import type { Config } from '../../config/config.js'
import type { ServerSettings } from '../../config/database-server.js'
import { ConfigError } from '../../errors/errors.js'
import { readCatalog } from './catalog.js'
import { onClient, openPool, type Pool } from './pool.js'
import { type MysqlStatements, openStatements } from './statements.js'

/** Connections for permissions and health. */
const smallPool = 2

/** A server that can be reached. */
export interface MysqlReached {
  readonly settings: ServerSettings
  readonly small: Pool
  readonly statements: MysqlStatements
  close(): Promise<void>
}

/** Opens the small pool, and makes sure that the server can be reached. @throws ConfigError with a sentence */
export async function reach(config: Config, failed: (error: Error) => void = () => {}): Promise<MysqlReached> {
  const settings = config.database.server!
  if (settings.url !== null && !/^(?:mysql|mariadb):\/\//.test(settings.url))
    throw new ConfigError('DATABASE_URL is none of MySQL or MariaDB: it begins with mysql://')
  const small = openPool(settings, { max: smallPool, failed })
  const statements = openStatements()
  try {
    await checkServer(small)
    statements.learn(await onClient(small, readCatalog))
  } catch (error) {
    await small.close()
    if (error instanceof ConfigError) throw error
    throw new ConfigError(
      `The database at ${placeOf(settings)} cannot be used: ${(error as Error).message || (error as { code?: string }).code}.`,
    )
  }
  return { settings, small, statements, close: () => small.close() }
}

/** MySQL refuses some statements that MariaDB executes. @throws ConfigError */
export async function checkServer(pool: Pool): Promise<void> {
  const { rows } = await onClient(pool, (client) => client.query('select version()'))
  const version = String(rows[0]![0])
  const [, major, minor] = /(\d{1,3})\.(\d{1,3})\.\d{1,3}-mariadb/i.exec(version) ?? []
  if (major === undefined) throw new ConfigError(`The server is MySQL ${version}, which is not supported yet: MariaDB is, from 10.11 on`)
  if (Number(major) * 100 + Number(minor) < 1011) throw new ConfigError(`The server is MariaDB ${version}; 10.11 or later is needed`)
}

/** The server and database as they may be shown: without a password. */
export function placeOf({ url, host, port, name }: Pick<ServerSettings, 'url' | 'host' | 'port' | 'name'>): string {
  if (url === null) return `${host}:${port}/${name}`
  if (!URL.canParse(url)) return 'mysql://…'
  const parsed = new URL(url)
  // A password with an unescaped slash or at sign ends in the host or the path: nothing before the last at sign is shown.
  const isOdd = parsed.pathname.includes('@')
  return `mysql://${isOdd ? parsed.pathname.slice(parsed.pathname.lastIndexOf('@') + 1) : parsed.host + parsed.pathname}`
}
