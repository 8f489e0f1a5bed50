// Looks into a MySQL or MariaDB database, and changes nothing in it.
import type { Config } from '../../../foundation/config/config.js'
import type { DatabaseView } from '../../database.js'
import type { MysqlQueryable } from './catalog.js'
import { beginSnapshot, inspectMysql } from './inspection.js'
import { type MysqlLend, openMainConnection } from './main-connection.js'
import { onClient, type Pool } from './pool.js'
import { isUnprepared } from './prepare-database.js'
import { type MysqlReached, reach } from './reach.js'
import { declaredColumnsOf, findSchemaMismatches } from './schema-mismatches.js'

/** Whichever connection of a pool is free. */
export const anyOf = (pool: Pool): MysqlQueryable => ({ query: (text, shown) => onClient(pool, (client) => client.query(text, shown)) })

/** `connection`: what tells of the database; `lend`: lends what reads it. */
function viewOf({ statements }: MysqlReached, connection: MysqlQueryable, lend: MysqlLend, close: () => Promise<void>): DatabaseView {
  return {
    ...inspectMysql(connection),
    main: openMainConnection(lend, statements),
    isEmpty: () => isUnprepared(connection),
    mismatches: (model) => findSchemaMismatches(connection, model),
    declaredColumns: () => declaredColumnsOf(connection),
    close,
  }
}

/** Opens the database for a few reads. */
export async function lookIntoMysql(config: Config): Promise<DatabaseView> {
  const reached = await reach(config)
  return viewOf(reached, anyOf(reached.small), (work) => onClient(reached.small, work), reached.close)
}

/** Limits the time of each read: in seconds on MariaDB, in milliseconds on MySQL. */
async function limitReads(client: MysqlQueryable, longest: number): Promise<void> {
  const isLimited = await client.query(`set session max_statement_time = ${longest / 1000}`).then(
    () => true,
    () => false,
  )
  if (!isLimited) await client.query(`set session max_execution_time = ${Math.ceil(longest)}`)
}

/** Opens the database for reads that all belong to one snapshot. */
export async function snapshotOfMysql(config: Config, longest?: number): Promise<DatabaseView> {
  const reached = await reach(config)
  const client = await reached.small.acquire()
  if (longest !== undefined) await limitReads(client, longest)
  await beginSnapshot(client)
  return viewOf(
    reached,
    client,
    (work) => work(client),
    async () => {
      reached.small.release(client, true)
      await reached.close()
    },
  )
}
