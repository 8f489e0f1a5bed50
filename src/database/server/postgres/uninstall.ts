// Removes what Octavo has added to a PostgreSQL database, in one transaction: tables, indexes and permissions.

import type pg from 'pg'
import type { Config } from '../../../foundation/config/config.js'
import { ConfigError } from '../../../foundation/errors/errors.js'
import { pause } from '../../../foundation/runtime/clock.js'
import { isOctavoTable } from '../../../model/tables/octavo-tables.js'
import { quoted } from '../../../model/tables/table.js'
import { permissionTables, type Uninstallation } from '../../driver.js'
import { startTimeoutMs } from '../../limits.js'
import { connectToServer } from './availability.js'
import { isLockWait } from './errors.js'

/** Opens the database; nothing of it is changed before `remove`. */
export async function openPostgresUninstallation(config: Config, actions: readonly string[]): Promise<Uninstallation> {
  const reached = await connectToServer(config)
  const client = await reached.small.connect().catch(async (error: unknown) => {
    await reached.close()
    throw error
  })
  return {
    find: async () => {
      const { tables, permissions, indexes } = await findObjects(client)
      const counts = new Map<string, number>()
      for (const name of tables) counts.set(name, await countRows(client, quoted(name)))
      let granted = 0
      for (const table of permissions) granted += await countRows(client, `${table} where action = any($1)`, [actions])
      return { tables: counts, indexes, permissions: granted, others: [] }
    },
    remove: async (report) => {
      await refuseOthers(client)
      await client.query(`begin; set local lock_timeout = ${Math.ceil(startTimeoutMs)}; set local statement_timeout = 0`)
      try {
        const { tables, indexes, permissions } = await findObjects(client)
        for (const name of indexes) {
          report(name)
          await client.query(`drop index ${quoted(name)}`)
        }
        for (const name of tables) {
          report(name)
          await client.query(`drop table ${quoted(name)}`)
        }
        for (const table of permissions) await client.query(`delete from ${table} where action = any($1)`, [actions])
        await client.query('commit')
      } catch (error) {
        await client.query('rollback').catch(() => {})
        throw isLockWait(error) ? new ConfigError('The tables are in use. Stop what uses them. Nothing was changed') : error
      }
    },
    close: async () => {
      client.release(true)
      await reached.close()
    },
  }
}

/** The names of Octavo's objects, and the existing permission tables. */
async function findObjects(client: pg.PoolClient) {
  const { rows } = await client.query<{ readonly name: string; readonly kind: string; readonly of: string | null }>(
    `select c.relname as name, c.relkind as kind, t.relname as of
     from pg_class c left join pg_index i on i.indexrelid = c.oid left join pg_class t on t.oid = i.indrelid
     where c.relnamespace = (select oid from pg_namespace where nspname = current_schema()) and c.relkind in ('r', 'i') order by c.relname`,
  )
  const named = (kind: string) => rows.filter((row) => row.kind === kind)
  return {
    tables: named('r')
      .map(({ name }) => name)
      .filter(isOctavoTable),
    indexes: named('i')
      .filter(({ name, of }) => name.startsWith('octavo_') && of?.startsWith('octavo_') !== true)
      .map(({ name }) => name),
    permissions: permissionTables.filter((table) => rows.some(({ name }) => name === table)),
  }
}

async function countRows(client: pg.PoolClient, from: string, values: readonly unknown[] = []): Promise<number> {
  const { rows } = await client.query<{ readonly count: number | string }>(`select count(*) as count from ${from}`, [...values])
  return Number(rows[0]!.count)
}

/** Milliseconds in which other connections may end, and between two checks. */
const patience = 2_000
const interval = 100

/** @throws ConfigError while an Octavo service is connected */
async function refuseOthers(client: pg.PoolClient): Promise<void> {
  const connected = "pg_stat_activity where datname = current_database() and application_name = 'octavo' and pid <> pg_backend_pid()"
  // A connection that was closed a moment ago may still be listed.
  for (let waited = 0; waited < patience && (await countRows(client, connected)) > 0; waited += interval) await pause(interval)
  if ((await countRows(client, connected)) > 0)
    throw new ConfigError('An Octavo is connected to this database. Stop it. Nothing was changed')
}
