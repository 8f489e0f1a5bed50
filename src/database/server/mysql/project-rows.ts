// The rows of a project's MySQL or MariaDB database: read in one snapshot, or replaced in one transaction.
import type { Config } from '../../../foundation/config/config.js'
import { ConfigError } from '../../../foundation/errors/errors.js'
import type { Model } from '../../../model/schema/types.js'
import { quoted } from '../../../model/tables/table.js'
import type { FillRows } from '../../driver.js'
import type { RowCondition, RowReplacement, RowSource, RowTable } from '../../transfer/rows.js'
import type { Client } from './client.js'
import { fitterFor } from './coerce-values.js'
import { isConflict } from './errors.js'
import { prepareDatabase } from './prepare-database.js'
import { type MysqlReached, placeOf, reach } from './reach.js'
import { insertRows, mysqlSource, reading, selectedBy, updateRows } from './rows.js'

/** Opens a connection of its own. What fails closes it. */
async function onClient<Result>(
  reached: MysqlReached,
  open: (client: Client, close: () => Promise<void>) => Promise<Result>,
): Promise<Result> {
  try {
    const client = await reached.small.acquire()
    return await open(client, async () => {
      reached.small.release(client, true)
      await reached.close()
    })
  } catch (error) {
    await reached.close()
    throw error
  }
}

/** Opens the database for reads that all belong to one snapshot, also while a service writes. */
export async function mysqlRows(config: Config, _model?: Model, beforeSnapshot = (): void => {}): Promise<RowSource> {
  const reached = await reach(config)
  return onClient(reached, (client, close) => {
    beforeSnapshot()
    return mysqlSource(client, placeOf(reached.settings), close)
  })
}

/** Opens the database to replace rows; it is prepared as for a service. */
export async function mysqlReplacement(config: Config, model: Model, fill: FillRows): Promise<RowReplacement> {
  const reached = await reach(config)
  const wait = config.limits.startWait
  return onClient(reached, async (client, close) => {
    await prepareDatabase(reached.small, model, { wait, sessions: config.auth.jwtManagement === 'refresh', fill })
    return {
      ...reading(client, placeOf(reached.settings)),
      fitter: fitterFor,
      begin: async () => {
        // A transaction that reads nothing before it removes all rows of a table holds the table from then on.
        await client.query(`set session innodb_lock_wait_timeout = ${Math.ceil(wait / 1000)}`)
        await client.query('start transaction')
      },
      remove: (table, where) => explained(remove(client, table, where), wait),
      insert: (table, rows) => explained(insertRows(client, table, rows), wait),
      update: (table, rows) => explained(updateRows(client, table, rows), wait),
      commit: async () => void (await client.query('commit')),
      rollback: async () => void (await client.query('rollback')),
      close,
    }
  })
}

async function remove(client: Client, table: RowTable, where: RowCondition): Promise<number> {
  const conditions = Object.values(where)
  if (conditions.some((values) => values.length === 0)) return 0
  const condition = conditions.length === 0 ? '' : ` where ${selectedBy(table, where)}`
  const text = `delete from ${quoted(table.name)}`
  return (await client.query(`${text}${condition}`, text)).changed
}

async function explained<Result>(work: Promise<Result>, wait: number): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (!isConflict(error)) throw error
    throw new ConfigError(
      `Other writes were in the way for ${Math.round(wait / 1000)} seconds (${(error as Error).message}), and nothing was changed. Try again later`,
    )
  }
}
