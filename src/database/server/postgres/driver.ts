// The driver of PostgreSQL.

import type pg from 'pg'
import type { Config } from '../../../foundation/config/config.js'
import { ConfigError } from '../../../foundation/errors/errors.js'
import type { Model } from '../../../model/schema/types.js'
import { quoted } from '../../../model/tables/table.js'
import type { DatabaseLock, DatabaseView, FillDatabase } from '../../database.js'
import type { Driver, WriteFirstRows } from '../../driver.js'
import { startTimeoutMs } from '../../limits.js'
import type { RowCondition, RowReplacement, RowSource, RowTable } from '../../transfer/rows.js'
import { connectToServer, createMainConnection, formatServer, type Lend, type PostgresServerConnection } from './availability.js'
import { beginSnapshot, findSchemaMismatches, inspectPostgres, type Queryable, readDeclaredColumns } from './catalog.js'
import { coercionTo } from './coerce-values.js'
import { onConnection } from './connection.js'
import { isConflict, isLockWait } from './errors.js'
import { createIndexes } from './indexes.js'
import { openPostgresDatabase, openPostgresForCommand } from './open.js'
import { isUnprepared, prepareDatabase } from './prepare-database.js'
import { insertRows, postgresSource, reading, selectedBy, setNumbers, updateRows, valueFormats, valuesOf, withModelNames } from './rows.js'
import { openPostgresUninstallation } from './uninstall.js'

/** `firstRows`: what fills a new database with the first content of a model. */
export const postgresDriver = (firstRows: (locale: string, model: Model, fill: FillDatabase) => WriteFirstRows): Driver => ({
  exists: () => true,
  getName: ({ database }) => formatServer(database.server!),
  // A server's database is there or cannot be reached.
  refuseLost: () => {},
  refuseEmptied: () => {},
  classifyError: () => null,
  open: (config, model, host) => openPostgresDatabase(config, model, host, firstRows(config.initialLocale, model, host.fill)),
  openForCommand: (config, model, fill) => openPostgresForCommand(config, model, firstRows(config.initialLocale, model, fill)),
  openView: openPostgresView,
  openSnapshot: openPostgresSnapshot,
  rows: postgresRows,
  fileSnapshot: null,
  replacement: (config, model, fill) => postgresReplacement(config, model, firstRows(config.initialLocale, model, fill)),
  uninstall: openPostgresUninstallation,
  createMissingIndexes: async (config, model, report) => {
    const { small, close } = await connectToServer(config)
    try {
      return await createIndexes(small, { model, nullsFirst: config.database.nullsFirst }, ({ name }, done, missing) =>
        report(name, done, missing),
      )
    } finally {
      await close()
    }
  },
  lock: lockPostgres,
})

/** `connection`: for inspections; `lend`: lends a connection for reads. */
function createView(
  { small, statements }: PostgresServerConnection,
  connection: Queryable,
  lend: Lend,
  close: () => Promise<void>,
): DatabaseView {
  return {
    ...inspectPostgres(connection),
    main: createMainConnection(lend, statements),
    isEmpty: () => isUnprepared(small),
    mismatches: (model) => findSchemaMismatches(small, model),
    declaredColumns: () => readDeclaredColumns(small),
    close,
  }
}

/** Opens the database for a few reads. */
export async function openPostgresView(config: Config): Promise<DatabaseView> {
  const reached = await connectToServer(config)
  return createView(reached, reached.small, (work) => onConnection(reached.small, work), reached.close)
}

/** Opens the database for reads that all belong to one snapshot. */
export async function openPostgresSnapshot(config: Config, longest?: number): Promise<DatabaseView> {
  const reached = await connectToServer(config)
  const client = await reached.small.connect()
  if (longest !== undefined) await client.query(`set statement_timeout = ${Math.ceil(longest)}`)
  const snapshot = await beginSnapshot(client)
  return createView(
    reached,
    snapshot,
    (work) => work(snapshot),
    async () => {
      client.release(true)
      await reached.close()
    },
  )
}

/** The lock of processes that start together: the same number in every version. */
const starting = 7_082_100_003

/** Takes the lock. `wait`: milliseconds at most. */
export async function lockPostgres(config: Config, wait: number): Promise<DatabaseLock> {
  const { small, close } = await connectToServer(config)
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

/** A connection whose statements wait for those before them: the next rows are read while others are asked for. */
function sequentially(client: pg.PoolClient): pg.ClientBase {
  let last: Promise<unknown> = Promise.resolve()
  const query = (...given: Parameters<typeof client.query>): Promise<unknown> => {
    const next = last.then(() => client.query(...given))
    last = next.catch(() => {})
    return next
  }
  return { query } as unknown as pg.ClientBase
}

/** Opens a dedicated connection. A failure closes it. */
async function onClient<Result>(
  reached: PostgresServerConnection,
  open: (client: pg.ClientBase, close: () => Promise<void>) => Promise<Result>,
): Promise<Result> {
  try {
    const client = await reached.small.connect()
    client.on('error', () => {})
    return await open(sequentially(client), async () => {
      client.release(true)
      await reached.close()
    })
  } catch (error) {
    await reached.close()
    throw error
  }
}

/** Opens the database for reads that all belong to one snapshot, also while a service writes. */
export async function postgresRows(config: Config, model?: Model, beforeSnapshot = (): void => {}): Promise<RowSource> {
  const reached = await connectToServer(config)
  const source = await onClient(reached, (client, close) => {
    beforeSnapshot()
    return postgresSource(client, formatServer(reached.settings), close)
  })
  return model === undefined ? source : withModelNames(source, model)
}

/** Opens the database to replace rows; it is prepared as for a service. */
export async function postgresReplacement(config: Config, model: Model, fill: WriteFirstRows): Promise<RowReplacement> {
  const reached = await connectToServer(config)
  return onClient(reached, async (client, close) => {
    await prepareDatabase(reached.small, model, {
      schema: reached.settings.schema,
      wait: startTimeoutMs,
      sessions: config.auth.jwtManagement === 'refresh',
      fill,
    })
    return withModelNames(replacementOn(client, formatServer(reached.settings), startTimeoutMs, close), model)
  })
}

function replacementOn(client: pg.ClientBase, name: string, wait: number, close: () => Promise<void>): RowReplacement {
  return {
    ...reading(client, name),
    coercion: coercionTo,
    begin: (tables) => begin(client, tables, wait),
    remove: (table, where) => remove(client, table, where),
    insert: (table, rows) => insertRows(client, table, rows),
    update: (table, rows) => updateRows(client, table, rows),
    commit: async () => {
      await setNumbers(client, await reading(client, name).lastNumbers())
      await client.query('commit').catch((error: unknown) => {
        throw isConflict(error) ? new ConfigError('Another write came in between, and nothing was changed. Try again') : error
      })
      await client.query('analyze').catch(() => {})
    },
    rollback: async () => {
      await client.query('rollback')
    },
    close,
  }
}

/**
 * The locks allow reads. They precede the snapshot, so that nothing is committed in between. Serializable, so that a concurrent write that
 * has read the replaced rows fails and is repeated.
 */
async function begin(client: pg.ClientBase, tables: readonly RowTable[], wait: number): Promise<void> {
  const names = tables.map(({ name }) => quoted(name)).sort()
  await client.query(`begin isolation level serializable read write; ${valueFormats}; set local lock_timeout = ${Math.ceil(wait)}`)
  try {
    await client.query(`lock table ${names.join(', ')} in share row exclusive mode`)
  } catch (error) {
    if (!isLockWait(error)) throw error
    throw new ConfigError(`The tables have been in use by other writes for ${Math.round(wait / 1000)} seconds. Try again later`)
  }
}

async function remove(client: pg.ClientBase, table: RowTable, where: RowCondition): Promise<number> {
  const columns = Object.keys(where)
  const condition = columns.length === 0 ? '' : ` where ${selectedBy(table, columns)}`
  const values = columns.map((column) => valuesOf(table, column, where[column]!))
  return (await client.query(`delete from ${quoted(table.name)}${condition}`, values)).rowCount ?? 0
}
