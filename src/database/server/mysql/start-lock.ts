// The lock by which processes that start together on a MySQL or MariaDB database take turns.
import type { Config } from '../../../foundation/config/config.js'
import type { DatabaseLock } from '../../database.js'
import { takeLock } from './locks.js'
import { isUnprepared } from './prepare-database.js'
import { reach } from './reach.js'

/** Takes the lock. `wait`: milliseconds at most. */
export async function lockMysql(config: Config, wait: number): Promise<DatabaseLock> {
  const { small, close } = await reach(config)
  const client = await small.acquire()
  const release = async () => {
    small.release(client, true)
    await close()
  }
  try {
    if (!(await takeLock(client, 'start', wait))) throw new Error('Another process holds the lock')
  } catch (error) {
    await release()
    throw error
  }
  return {
    countTokens: async () => {
      if (await isUnprepared(client)) return 0
      const { rows } = await client.query('select count(*) from strapi_api_tokens')
      return rows[0]![0] as number
    },
    release,
  }
}
