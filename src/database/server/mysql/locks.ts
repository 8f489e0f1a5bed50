// Locks by name, which belong to a connection and end with it. Names are the server's: each has the database in it.
import type { MysqlQueryable } from './catalog.js'

/** What is done by one process at a time: preparing the database, starting on it, creating indexes. */
export type LockName = 'prepare' | 'start' | 'index'

/** The lock's name; the same in every version. */
const nameOf = (name: LockName): string => `concat('octavo_${name}_', md5(database()))`

/** Takes a lock. `wait`: milliseconds at most. Resolves to whether the connection has it now. */
export async function takeLock(client: MysqlQueryable, name: LockName, wait: number): Promise<boolean> {
  const { rows } = await client.query(`select get_lock(${nameOf(name)}, ${Math.ceil(wait / 1000)})`)
  return rows[0]![0] === 1
}

/** Gives a lock back. */
export async function releaseLock(client: MysqlQueryable, name: LockName): Promise<void> {
  await client.query(`do release_lock(${nameOf(name)})`)
}
