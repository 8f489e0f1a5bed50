// Makes a MySQL or MariaDB database fit for the model: a new one gets every table and the rows it starts with, an existing one only what
// it lacks. Nothing of Strapi's is ever dropped or rewritten. Tables are made one by one, since no transaction has several; whoever comes after an
// interrupted start goes on with it.
import { ConfigError } from '../../../foundation/errors/errors.js'
import { elapsed, pause } from '../../../foundation/runtime/clock.js'
import type { Model } from '../../../model/schema/types.js'
import { findLacking, isPrepared, type Lacking, type LackingWithOwn, namesOf, type Prepared } from '../../../model/tables/lacking.js'
import { hasFormerTables, octavoTables, replaceFormerTables } from '../../../model/tables/octavo-tables.js'
import { quoted } from '../../../model/tables/table.js'
import type { FillRows } from '../../driver.js'
import { type MysqlCatalog, readCatalog, releaseLock, takeLock } from './catalog.js'
import { type Client, type MysqlQueryable, tableTimeout } from './client.js'
import {
  charactersOf,
  columnText,
  createMark,
  createOctavoStatements,
  createStatement,
  driverTables,
  indexText,
  type OctavoIndex,
  octavoIndexes,
  unpreparedTable,
} from './create-tables.js'
import { isConflict, numberOf } from './errors.js'
import { indexName, indexStatement, isIndexable } from './indexes.js'
import { onClient, type Pool } from './pool.js'
import { mysqlTarget } from './rows.js'
import { takeTurn } from './transaction.js'

/** How a database is prepared. */
export interface MysqlPreparation {
  /** Milliseconds to wait for another process that prepares the same database. */
  readonly wait: number
  /** Sessions are issued here, so their table gets the columns that an older Strapi did not make. */
  readonly sessions: boolean
  /** Fills a new database, in one transaction. */
  fill: FillRows
}

/** The table by which a database is known to have been prepared. */
const firstTable = 'strapi_core_store_settings'

/** Whether the database has none of the tables that a start makes first, or its first start was interrupted. */
export async function isUnprepared(database: MysqlQueryable): Promise<boolean> {
  const { rows } = await database.query(
    `select table_name from information_schema.tables where table_schema = database() and table_name in ('${firstTable}', '${unpreparedTable}')`,
  )
  const tables = new Set(rows.flat())
  if (!tables.has(firstTable)) return true
  if (!tables.has(unpreparedTable)) return false
  return (await database.query(`select 1 from ${unpreparedTable}`)).rows.length > 0
}

/** What was done, and the unique indexes of our own tables that are missing because rows have the same values. */
export interface MysqlPrepared extends Prepared {
  readonly notUnique: readonly string[]
}

/** The same as for other servers, and indexes of our own tables: here unique ones can be dropped too, which are constraints elsewhere. */
interface MysqlLacking extends LackingWithOwn {
  readonly ownIndexes: readonly OctavoIndex[]
}

const nothingDone: MysqlPrepared = { isNew: false, added: [], notUnique: [] }

/**
 * Prepares the database.
 * @throws ConfigError with a sentence if the user may not change it, or another process prepares it for longer than `wait`
 */
export async function prepareDatabase(pool: Pool, model: Model, preparation: MysqlPreparation): Promise<MysqlPrepared> {
  return onClient(pool, async (client) => {
    if (isWhole(await lackingIn(client, model, preparation))) return nothingDone
    if (!(await takeLock(client, 'prepare', preparation.wait)))
      throw new ConfigError(
        `The database has been locked for ${Math.round(preparation.wait / 1000)} seconds. Another process may be preparing it; start again later`,
      )
    try {
      // Others may prepare it on other nodes of a cluster: the lock holds on this one alone.
      const prepare = () => prepareLocked(client, model, preparation)
      return await (client.isGalera ? againstOthers(prepare, preparation.wait) : prepare())
    } catch (error) {
      throw preparationError(error)
    } finally {
      await client.query(`set session foreign_key_checks = 1, lock_wait_timeout = ${tableTimeout}`).catch(() => client.cut())
      await releaseLock(client, 'prepare').catch(() => client.cut())
    }
  })
}

/** The server's numbers of errors about what is there already: a table, a column, an index, a row. */
const duplicateRow = 1062
const isThere: readonly number[] = [1050, 1060, 1061, duplicateRow]

/** Milliseconds until what others were faster with is looked at again. */
const pauseBetween = 300

/** Prepares until nothing is lacking: where another node was faster with a step, what is left is another. `wait`: milliseconds at most. */
async function againstOthers<Result>(prepare: () => Promise<Result>, wait: number): Promise<Result> {
  const end = elapsed() + wait
  for (;;) {
    try {
      return await prepare()
    } catch (error) {
      if ((!isThere.includes(numberOf(error)) && !isConflict(error)) || elapsed() > end) throw error
      await pause(pauseBetween * (0.5 + Math.random()))
    }
  }
}

const isWhole = (lacking: MysqlLacking): boolean => isPrepared(lacking) && lacking.ownIndexes.length === 0

async function prepareLocked(client: Client, model: Model, preparation: MysqlPreparation): Promise<MysqlPrepared> {
  // Another process may have done it meanwhile.
  const lacking = await lackingIn(client, model, preparation)
  if (isWhole(lacking)) return nothingDone
  const { tables: present } = await readCatalog(client)
  const { isNew, tables, columns, indexes, ownIndexes } = lacking
  const characters = tables.length === 0 ? '' : await charactersOf(client)
  await client.query(createMark)
  if (isNew) await client.query(`insert ignore into ${unpreparedTable} (id) values (1)`)
  // Tables reference each other.
  await client.query('set session foreign_key_checks = 0')
  // A transaction that is open keeps its tables; whoever waits for them keeps the next reads waiting.
  await client.query(`set session lock_wait_timeout = ${Math.ceil(preparation.wait / 1000)}`)
  for (const statement of [
    ...createOctavoStatements(),
    ...replaceFormerTables((name) => present.has(name)),
    ...tables.map((table) => createStatement(table, characters)),
    // In one statement, which is done or not.
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
  return { isNew, added: isNew ? [] : namesOf(lacking), notUnique }
}

/**
 * Adds indexes to our own tables. Where rows that were written without a unique one have the same values, it stays missing: nothing says which of
 * them is right, and everything works without it. Returns the names of these.
 */
async function addIndexes(client: Client, indexes: readonly OctavoIndex[]): Promise<readonly string[]> {
  const notUnique: string[] = []
  for (const { table, name, unique, text } of indexes)
    await client.query(`alter table ${table} add ${text}`).catch((error: unknown) => {
      if (!unique || numberOf(error) !== duplicateRow) throw error
      notUnique.push(name)
    })
  return notUnique
}

/** Writes the first rows. The mark goes with the same commit. */
async function fillNew(client: Client, fill: FillRows): Promise<void> {
  await client.query('start transaction')
  try {
    if (client.isGalera) await takeTurn(client)
    const isFilled = client.isGalera && (await client.query(`select id from ${firstTable} limit 1`)).rows.length > 0
    if (!isFilled) await fill(mysqlTarget(client, 'the new database', 'callers', async () => {}))
    await client.query(`delete from ${unpreparedTable}`)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => client.cut())
    throw error
  }
}

async function lackingIn(client: Client, model: Model, { sessions }: MysqlPreparation): Promise<MysqlLacking> {
  const catalog = await readCatalog(client)
  const isNew = await isUnprepared(client)
  const indexes = new Set([...catalog.indexes.values()].flatMap((names) => [...names]))
  const has = (name: string): boolean => catalog.tables.has(name) || indexes.has(name)
  const columns = new Map([...catalog.tables].map(([table, all]) => [table, new Set(all.map(({ name }) => name))]))
  const hasColumn = (table: string, column: string): boolean => columns.get(table)?.has(column) === true
  const lacking = findLacking(model, { isNew, has, hasColumn, schema: null }, sessions)
  // Its tables are those of neither model. What is added would be in the way of the steps that are left; they make what the new model needs.
  const layout = (await isBeingChanged(client, catalog)) ? { tables: [], columns: [] } : {}
  return {
    ...lacking,
    ...layout,
    indexes: lacking.indexes.filter((index) => !indexes.has(indexName(index)) && isPossible(catalog, lacking, index)),
    ownIndexes: octavoIndexes.filter(({ table, name }) => catalog.tables.has(table) && catalog.indexes.get(table)?.has(name) !== true),
    ownTables: [...octavoTables.map(({ name }) => name), ...driverTables].some((name) => !catalog.tables.has(name)) || hasFormerTables(has),
  }
}

/** Whether a change of the model was begun that is neither made nor taken back. */
async function isBeingChanged(client: Client, { tables }: MysqlCatalog): Promise<boolean> {
  if (tables.get('octavo_model_history')?.some(({ name }) => name === 'is_made') !== true) return false
  return (await client.query('select 1 from octavo_model_history where is_made <> 1 limit 1')).rows.length > 0
}

const isPossible = (catalog: MysqlCatalog, { tables }: Lacking, index: Parameters<typeof isIndexable>[1]): boolean =>
  tables.some(({ name }) => name === index.table) || isIndexable(catalog, index)

/** What went wrong as a sentence, where it is something to be done by the operator. */
export function preparationError(error: unknown): unknown {
  const { message } = error as Error
  switch (numberOf(error)) {
    case 1044:
    case 1142:
      return new ConfigError(
        `The database user may not create what is missing (${message}). Grant it: GRANT CREATE, ALTER, INDEX, REFERENCES ON … TO …`,
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
