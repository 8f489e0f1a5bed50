// Opens the read replicas of the settings: a pool for reads and a connection for questions each.
import type { Logger } from 'pino'
import type { Config } from '../../../foundation/config/config.js'
import type { ServerSettings } from '../../../foundation/config/database-server.js'
import type { ReadOptions } from '../options.js'
import { execute, onConnection, openPool, type Statements } from './connection.js'
import { placeOf } from './reach.js'
import { openReads } from './reads.js'
import { openReplica, type Replica } from './replica.js'

/** Milliseconds to connect to a replica: there is another server for the read. */
const connectionTimeout = 1_000

/** Opens the replicas; none is connected to before the first read. */
export function openReplicas(
  { database, limits }: Pick<Config, 'database' | 'limits'>,
  options: ReadOptions,
  statements: Statements,
  logger: Pick<Logger, 'info' | 'warn'>,
): readonly Replica[] {
  return database.replicas.map((url) => {
    const settings: ServerSettings = { ...options.settings, url, connectionTimeout }
    // A lost connection says little: the next question tells whether the server responds.
    const failed = () => replica.forget()
    const small = openPool(settings, { max: 1, pipelined: false, mayBeStandby: true, failed })
    const reads = openReads({ ...options, settings }, statements, failed, 'replica')
    const place = { replica: placeOf(settings) }
    const replica = openReplica({
      wait: limits.replicaWait,
      reads: { ...reads, close: async () => void (await Promise.all([reads.close(), small.end()])) },
      ask: async (text, values) =>
        (await onConnection(small, (client) => execute(statements, client, text, values), connectionTimeout)).rows,
      changed: (isUsed) =>
        isUsed
          ? logger.info(place, 'a read replica is used again')
          : logger.warn(place, 'a read replica is behind or cannot be reached: reads go elsewhere until it has caught up'),
    })
    small.on('remove', replica.forget)
    return replica
  })
}
