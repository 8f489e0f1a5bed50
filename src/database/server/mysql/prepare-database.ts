// Prepares a MySQL or MariaDB database for the model: creates missing tables and columns and, in a new database, the first rows. Strapi's
// tables are never dropped or rewritten. DDL commits implicitly, so the next start completes an interrupted preparation.
import { ConfigError } from '../../../foundation/errors/errors.js'
import { elapsed, pause } from '../../../foundation/runtime/clock.js'
import type { Model } from '../../../model/schema/types.js'
import {
  findMissingSchema,
  getMissingNames,
  isPrepared,
  type MissingSchema,
  type MissingServerSchema,
  type Prepared,
} from '../../../model/tables/compare-database.js'
import { hasFormerTables, octavoTables, replaceFormerTables } from '../../../model/tables/octavo-tables.js'
import { quoted } from '../../../model/tables/table.js'
import type { WriteFirstRows } from '../../driver.js'
import type { ServerPreparation } from '../kind.js'
import { type MysqlCatalog, readCatalog, releaseLock, takeLock } from './catalog.js'
import { type Client, type MysqlQueryable, tableTimeoutSeconds } from './client.js'
import {
  columnText,
  createMark,
  createOctavoStatements,
  createStatement,
  driverTables,
  getCharacterSet,
  indexText,
  type OctavoIndex,
  octavoIndexes,
  unpreparedTable,
} from './create-tables.js'
import { getErrno, isConflict } from './errors.js'
import { indexName, indexStatement, isIndexable } from './indexes.js'
import { onClient, type Pool } from './pool.js'
import { mysqlTarget } from './rows.js'
import { lockGroup } from './transaction.js'

/** Exists in every prepared database. */
const firstTable = 'strapi_core_store_settings'

/** True if the database lacks the tables of the first start, or that start was interrupted. */
export async function isUnprepared(database: MysqlQueryable): Promise<boolean> {
  const { rows } = await database.query(
    `select table_name from information_schema.tables where table_schema = database() and table_name in ('${firstTable}', '${unpreparedTable}')`,
  )
  const tables = new Set(rows.flat())
  if (!tables.has(firstTable)) return true
  if (!tables.has(unpreparedTable)) return false
  return (await database.query(`select 1 from ${unpreparedTable}`)).rows.length > 0
}

/** The changes, and Octavo's unique indexes that are missing because of duplicate rows. */
interface MysqlPrepared extends Prepared {
  readonly notUnique: readonly string[]
}

/** Includes indexes of Octavo's tables: unlike the constraints on other databases, they may have been dropped. */
interface MysqlLacking extends MissingServerSchema {
  readonly ownIndexes: readonly OctavoIndex[]
}

const nothingDone: MysqlPrepared = { isNew: false, added: [], notUnique: [] }

/** Prepares the database. @throws ConfigError if the user lacks grants, or another process holds the lock for longer than `wait` */
export async function prepareDatabase(pool: Pool, model: Model, preparation: ServerPreparation): Promise<MysqlPrepared> {
  return onClient(pool, async (client) => {
    if (isWhole(await lackingIn(client, model, preparation))) return nothingDone
    if (!(await takeLock(client, 'prepare', preparation.wait)))
      throw new ConfigError(
        `The database has been locked for ${Math.round(preparation.wait / 1000)} seconds. Another process may be preparing it; start again later`,
      )
    try {
      // On a cluster, the lock only excludes processes on the same node.
      const prepare = () => prepareLocked(client, model, preparation)
      return await (client.isGalera ? againstOthers(prepare, preparation.wait) : prepare())
    } catch (error) {
      throw preparationError(error)
    } finally {
      await client.query(`set session foreign_key_checks = 1, lock_wait_timeout = ${tableTimeoutSeconds}`).catch(() => client.cut())
      await releaseLock(client, 'prepare').catch(() => client.cut())
    }
  })
}

/** Server error numbers for duplicates: a table, a column, an index, a row. */
const duplicateRow = 1062
const isThere: readonly number[] = [1050, 1060, 1061, duplicateRow]

/** Milliseconds between attempts against another node. */
const pauseBetween = 300

/** Retries the preparation while another node interferes, for up to `wait` milliseconds. */
async function againstOthers<Result>(prepare: () => Promise<Result>, wait: number): Promise<Result> {
  const end = elapsed() + wait
  for (;;) {
    try {
      return await prepare()
    } catch (error) {
      if ((!isThere.includes(getErrno(error)) && !isConflict(error)) || elapsed() > end) throw error
      await pause(pauseBetween * (0.5 + Math.random()))
    }
  }
}

const isWhole = (lacking: MysqlLacking): boolean => isPrepared(lacking) && lacking.ownIndexes.length === 0

async function prepareLocked(client: Client, model: Model, preparation: ServerPreparation): Promise<MysqlPrepared> {
  // Another process may have prepared it in the meantime.
  const lacking = await lackingIn(client, model, preparation)
  if (isWhole(lacking)) return nothingDone
  const { tables: present } = await readCatalog(client)
  const { isNew, tables, columns, indexes, ownIndexes } = lacking
  const characters = tables.length === 0 ? '' : await getCharacterSet(client)
  await client.query(createMark)
  if (isNew) await client.query(`insert ignore into ${unpreparedTable} (id) values (1)`)
  // Tables reference each other.
  await client.query('set session foreign_key_checks = 0')
  // An open transaction locks its tables, and a waiting DDL statement blocks later reads.
  await client.query(`set session lock_wait_timeout = ${Math.ceil(preparation.wait / 1000)}`)
  for (const statement of [
    ...createOctavoStatements(),
    ...replaceFormerTables((name) => present.has(name)),
    ...tables.map((table) => createStatement(table, characters)),
    // One statement, which is atomic.
    ...columns.map(({ table, column, indexes: ofLayout }) => {
      const parts = [columnText(column), ...ofLayout.map(indexText)].map((part) => `add ${part}`)
      return `alter table ${quoted(table)} ${parts.join(', ')}`
    }),
    ...indexes.map(indexStatement),
  ])
    await client.query(statement)
  const notUnique = await addIndexes(client, ownIndexes)
  await client.query('set session foreign_key_checks = 1')
  if (isNew) await fillNew(client, preparation.fill)
  return { isNew, added: isNew ? [] : getMissingNames(lacking), notUnique }
}

/**
 * Adds indexes to Octavo's tables. A unique index stays missing if there are duplicate rows: which of them is right is unknown, and the
 * service works without it. Returns the names of those indexes.
 */
async function addIndexes(client: Client, indexes: readonly OctavoIndex[]): Promise<readonly string[]> {
  const notUnique: string[] = []
  for (const { table, name, unique, text } of indexes)
    await client.query(`alter table ${table} add ${text}`).catch((error: unknown) => {
      if (!unique || getErrno(error) !== duplicateRow) throw error
      notUnique.push(name)
    })
  return notUnique
}

/** Writes the first rows and removes the mark in the same transaction. */
async function fillNew(client: Client, fill: WriteFirstRows): Promise<void> {
  await client.query('start transaction')
  try {
    if (client.isGalera) await lockGroup(client)
    const isFilled = client.isGalera && (await client.query(`select id from ${firstTable} limit 1`)).rows.length > 0
    if (!isFilled) await fill(mysqlTarget(client, 'the new database', 'callers', async () => {}))
    await client.query(`delete from ${unpreparedTable}`)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => client.cut())
    throw error
  }
}

async function lackingIn(client: Client, model: Model, { sessions }: ServerPreparation): Promise<MysqlLacking> {
  const catalog = await readCatalog(client)
  const isNew = await isUnprepared(client)
  const indexes = new Set([...catalog.indexes.values()].flatMap((names) => [...names]))
  const has = (name: string): boolean => catalog.tables.has(name) || indexes.has(name)
  const columns = new Map([...catalog.tables].map(([table, all]) => [table, new Set(all.map(({ name }) => name))]))
  const hasColumn = (table: string, column: string): boolean => columns.get(table)?.has(column) === true
  const lacking = findMissingSchema(model, { isNew, has, hasColumn, schema: null }, sessions)
  // In the middle of a model change, tables match neither model. Additions would interfere with the remaining steps, which create
  // everything that the new model needs.
  const layout = (await isBeingChanged(client, catalog)) ? { tables: [], columns: [] } : {}
  return {
    ...lacking,
    ...layout,
    indexes: lacking.indexes.filter((index) => !indexes.has(indexName(index)) && isPossible(catalog, lacking, index)),
    ownIndexes: octavoIndexes.filter(({ table, name }) => catalog.tables.has(table) && catalog.indexes.get(table)?.has(name) !== true),
    ownTables: [...octavoTables.map(({ name }) => name), ...driverTables].some((name) => !catalog.tables.has(name)) || hasFormerTables(has),
  }
}

async function isBeingChanged(client: Client, { tables }: MysqlCatalog): Promise<boolean> {
  if (tables.get('octavo_model_history')?.some(({ name }) => name === 'is_made') !== true) return false
  return (await client.query('select 1 from octavo_model_history where is_made <> 1 limit 1')).rows.length > 0
}

const isPossible = (catalog: MysqlCatalog, { tables }: MissingSchema, index: Parameters<typeof isIndexable>[1]): boolean =>
  tables.some(({ name }) => name === index.table) || isIndexable(catalog, index)

/** Explains an error that the operator can resolve. */
export function preparationError(error: unknown): unknown {
  const { message } = error as Error
  switch (getErrno(error)) {
    case 1044:
    case 1142:
      return new ConfigError(
        `The database user may not create missing objects (${message}). Grant it: GRANT CREATE, ALTER, INDEX, REFERENCES ON … TO …`,
      )
    case 1205:
      return new ConfigError(`A table that lacks something is in use (${message}). End what holds it, and start again`)
    case 1290:
    case 1836:
      return new ConfigError(`The database can only be read (${message}), and something is missing in it. Connect to the primary server`)
    default:
      return error
  }
}
