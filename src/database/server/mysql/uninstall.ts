// Removes Octavo's tables, indexes and permissions from a MySQL or MariaDB database, one after the other. A repeated command continues an
// interrupted one.

import type { Config } from '../../../foundation/config/config.js'
import { ConfigError } from '../../../foundation/errors/errors.js'
import { pause } from '../../../foundation/runtime/clock.js'
import { isOctavoTable } from '../../../model/tables/octavo-tables.js'
import { quoted } from '../../../model/tables/table.js'
import { permissionTables, type Uninstallation } from '../../driver.js'
import { startTimeoutMs } from '../../limits.js'
import { connectToServer } from './availability.js'
import type { Client } from './client.js'
import { isLockWait } from './errors.js'
import { literal } from './statements.js'

/** Opens the database; nothing of it is changed before `remove`. */
export async function openMysqlUninstallation(config: Config, actions: readonly string[]): Promise<Uninstallation> {
  const reached = await connectToServer(config)
  const client = await reached.small.acquire().catch(async (error: unknown) => {
    await reached.close()
    throw error
  })
  const isOurs = `action in (${['', ...actions].map((action) => literal(action, 'plain')).join(', ')})`
  return {
    find: async () => {
      const { tables, indexes, permissions } = await findObjects(client)
      const counts: (readonly [string, number])[] = []
      for (const name of tables) counts.push([name, await countRows(client, quoted(name))])
      let granted = 0
      for (const table of permissions) granted += await countRows(client, `${table} where ${isOurs}`)
      return { tables: new Map(counts), indexes: indexes.map(({ name }) => name), permissions: granted, others: [] }
    },
    remove: async (report) => {
      await refuseOthers(client)
      const { tables, indexes, permissions } = await findObjects(client)
      await client.query(`set session lock_wait_timeout = ${Math.ceil(startTimeoutMs / 1000)}`)
      try {
        for (const table of permissions) await client.query(`delete from ${table} where ${isOurs}`)
        for (const { name, table } of indexes) {
          report(name)
          await client.query(`drop index ${quoted(name)} on ${quoted(table)}`)
        }
        for (const name of tables) {
          report(name)
          await client.query(`drop table ${quoted(name)}`)
        }
      } catch (error) {
        throw isLockWait(error) ? new ConfigError('A table is in use. Stop what uses it, and repeat the command: it goes on') : error
      }
    },
    close: async () => {
      reached.small.release(client, true)
      await reached.close()
    },
  }
}

/** The names of Octavo's objects, and the existing permission tables. */
async function findObjects(client: Client) {
  const textsOf = async (text: string) => (await client.query(text)).rows as readonly (readonly string[])[]
  const tables = (
    await textsOf(
      "select table_name from information_schema.tables where table_schema = database() and table_type = 'BASE TABLE' order by table_name",
    )
  ).flat()
  const indexes = await textsOf(
    `select distinct index_name, table_name from information_schema.statistics
     where table_schema = database() and index_name like 'octavo\\_%' and table_name not like 'octavo\\_%' order by table_name, index_name`,
  )
  return {
    tables: tables.filter(isOctavoTable),
    indexes: indexes.map(([name, table]) => ({ name: name!, table: table! })),
    permissions: permissionTables.filter((table) => tables.includes(table)),
  }
}

const countRows = async (client: Client, from: string): Promise<number> =>
  Number((await client.query(`select count(*) from ${from}`)).rows[0]![0])

/** Milliseconds in which other connections may end, and between two checks. */
const patience = 2_000
const interval = 100

/** @throws ConfigError while another connection of the same user is there: that of a service, or of Strapi */
async function refuseOthers(client: Client): Promise<void> {
  const connected = 'information_schema.processlist where db = database() and id <> connection_id()'
  // A connection that was closed a moment ago may still be listed.
  for (let waited = 0; waited < patience && (await countRows(client, connected)) > 0; waited += interval) await pause(interval)
  if ((await countRows(client, connected)) > 0)
    throw new ConfigError('Another connection is open to this database. Stop Octavo and Strapi. Nothing was changed')
}
