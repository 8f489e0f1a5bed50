// The lock by which processes that start together on a PostgreSQL database take turns.
import type { Config } from '../../../foundation/config/config.js'
import type { DatabaseLock } from '../../database.js'
import { isUnprepared } from './prepare-database.js'
import { reach } from './reach.js'

/** The lock of processes that start together: the same number in every version. */
const starting = 7_082_100_003

/** Takes the lock. `wait`: milliseconds at most. */
export async function lockPostgres(config: Config, wait: number): Promise<DatabaseLock> {
  const { small, close } = await reach(config)
  const client = await small.connect()
  const release = async () => {
    client.release(true)
    await close()
  }
  try {
    await client.query('begin')
    await client.query(`set local lock_timeout = ${Math.max(1, Math.round(wait))}`)
    await client.query(`select pg_advisory_xact_lock(${starting})`)
  } catch (error) {
    await release()
    throw error
  }
  return {
    countTokens: async () => {
      if (await isUnprepared(client)) return 0
      const { rows } = await client.query<{ readonly count: number }>('select count(*) as count from strapi_api_tokens')
      return rows[0]!.count
    },
    release,
  }
}
