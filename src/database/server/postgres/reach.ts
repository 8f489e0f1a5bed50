// Reaches the PostgreSQL server of a project.
import type pg from 'pg'
import type { Config } from '../../../foundation/config/config.js'
import type { ServerSettings } from '../../../foundation/config/database-server.js'
import { ConfigError } from '../../../foundation/errors/errors.js'
import { openPool, openStatements, type Statements } from './connection.js'

/** Connections for permissions and health. */
const smallPool = 2
/** Connections on which the server is asked about statements. */
const describingPool = 2

/** A server that can be reached. */
export interface Reached {
  readonly settings: ServerSettings
  readonly small: pg.Pool
  readonly statements: Statements
  close(): Promise<void>
}

/** Opens the small pool, and makes sure that the server can be reached. @throws ConfigError with a sentence */
export async function reach(config: Config, failed: (error: Error) => void = () => {}): Promise<Reached> {
  const settings = config.database.server!
  const small = openPool(settings, { max: smallPool, pipelined: false, failed })
  try {
    await small.query('select 1')
  } catch (error) {
    await small.end()
    throw new ConfigError(
      `The database at ${placeOf(settings)} cannot be used: ${(error as Error).message || (error as { code?: string }).code}.`,
    )
  }
  const describing = openPool(settings, { max: describingPool, pipelined: false, failed: () => {} })
  const close = async () => {
    await Promise.all([small.end(), describing.end()])
  }
  return { settings, small, statements: openStatements(describing), close }
}

/** The server and database as they may be shown: without a password. */
export function placeOf({ url, host, port, name }: ServerSettings): string {
  if (url === null) return `${host}:${port}/${name}`
  if (!URL.canParse(url)) return 'postgres://…'
  const parsed = new URL(url)
  // A password with an unescaped slash or at sign ends in the host or the path: nothing before the last at sign is shown.
  const isOdd = parsed.pathname.includes('@')
  return `postgres://${isOdd ? parsed.pathname.slice(parsed.pathname.lastIndexOf('@') + 1) : parsed.host + parsed.pathname}`
}
