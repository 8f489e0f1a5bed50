// Creates Octavo's indexes on PostgreSQL while the tables are in use: one at a time, by one process at a time, outside transactions. An
// interrupted creation is repeated.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Model } from '../../../model/schema/types.js'
import { describeIndexes, type OwnIndex, type ReportOwnIndex } from '../../../model/tables/own-indexes.js'
import { fullName, quoted, storedName } from '../../../model/tables/table.js'
import { type Catalog, readCatalog } from './catalog.js'

/** The name of an index. Long names end in a hash, since truncation could make them equal. */
export const indexName = ({ name }: OwnIndex): string => fullName(name)

interface IndexForm {
  /** Nulls sort as the smallest values, as in the lists that the index serves; otherwise as the greatest. */
  readonly nullsFirst: boolean
  /** Without blocking writes; not possible in a transaction. */
  readonly concurrently: boolean
}

export function indexStatement(index: OwnIndex, { nullsFirst, concurrently }: IndexForm): string {
  const { table, columns, where, descending, isOrder } = index
  const nulls = nullsFirst ? (descending ? ' nulls last' : ' nulls first') : ''
  const order = `${columns.map(quoted).join(', ')}${descending ? ' desc' : ''}${nulls}${isOrder ? ', id' : ''}`
  const rows = where === null ? '' : ` where ${where}`
  return `create index ${concurrently ? 'concurrently ' : ''}if not exists ${quoted(indexName(index))} on ${quoted(table)} (${order})${rows}`
}

/** Maximum characters of an indexable text, which may share an index with another. */
const indexedLength = 255

/** True if the type is of bounded length: long texts would exceed the size of an index entry. */
function isBounded(type: string): boolean {
  if (/^(?:text|jsonb?|bytea|character varying)$/.test(type)) return false
  const [, length] = /^character(?: varying)?\((\d+)\)$/.exec(type) ?? []
  return length === undefined || Number(length) <= indexedLength
}

/** True if the table has these columns and all their values fit into an index. */
export function isIndexable({ tables }: Catalog, { table, columns }: OwnIndex): boolean {
  const types = new Map(tables.get(storedName(table))?.map(({ name, type }) => [name, type]))
  return types.has('id') && columns.map(storedName).every((column) => types.has(column) && isBounded(types.get(column)!))
}

/** The indexes of a model. An existing index is not recreated for a different position of nulls. */
interface WantedIndexes {
  readonly model: Model
  readonly nullsFirst: boolean
}

/** Advisory lock for index creation: the same number in every version. */
const indexing = 7_082_100_002

const interval = 500

const isStopped = (stop: AbortSignal | undefined): boolean => stop?.aborted === true

/** Maximum attempts to create an index after conflicts with other sessions. */
const attempts = 5

/**
 * Creates missing indexes, reporting each before it starts. Waits while another process does the same. `pool` needs two connections without
 * pipelining. Returns the number of created indexes.
 * @throws the first error, after trying all other indexes; nothing if `stop` was aborted
 */
export async function createIndexes(pool: pg.Pool, wanted: WantedIndexes, report: ReportOwnIndex, stop?: AbortSignal): Promise<number> {
  while (!isStopped(stop)) {
    const holder = await pool.connect()
    const release = () => holder.release(true)
    holder.on('error', () => {})
    try {
      // The transaction only holds the lock. A bind parameter would make it keep its snapshot, which blocks concurrent index creation.
      await holder.query('begin isolation level read committed')
      await holder.query('set local idle_in_transaction_session_timeout = 0')
      const { rows } = await holder.query<{ readonly taken: number }>(`select pg_try_advisory_xact_lock(${indexing}) as taken`)
      if (rows[0]!.taken === 1) return await createMissing(pool, wanted, report, stop)
    } finally {
      release()
    }
    await sleep(interval, undefined, { signal: stop }).catch(() => {})
  }
  return 0
}

async function createMissing(
  pool: pg.Pool,
  { model, nullsFirst }: WantedIndexes,
  report: ReportOwnIndex,
  stop: AbortSignal | undefined,
): Promise<number> {
  const catalog = await readCatalog(pool)
  const missing = describeIndexes(model).filter((index) => catalog.indexes.get(indexName(index)) !== true && isIndexable(catalog, index))
  let created = 0
  let failure: unknown = null
  for (const [done, index] of missing.entries()) {
    if (isStopped(stop)) return created
    report(index, done, missing.length)
    try {
      await createOne(pool, index, indexStatement(index, { nullsFirst, concurrently: true }), stop)
      created++
    } catch (error) {
      failure ??= error
    }
  }
  if (failure !== null && !isStopped(stop)) throw failure
  return created
}

/** Conflicts with another session on the table: a deadlock or a lock timeout. */
const conflictCodes: ReadonlySet<unknown> = new Set(['40P01', '55P03'])

async function createOne(pool: pg.Pool, index: OwnIndex, statement: string, stop: AbortSignal | undefined): Promise<void> {
  const name = indexName(index)
  for (let attempt = 1; ; attempt++) {
    await waitForTable(pool, index.table, stop)
    const usable = await isUsable(pool, name)
    if (usable === true || isStopped(stop)) return
    try {
      if (usable === false) await onConnection(pool, `drop index concurrently if exists ${quoted(name)}`, stop)
      await onConnection(pool, statement, stop)
      return
    } catch (error) {
      if (isStopped(stop)) return
      if (conflictCodes.has((error as { readonly code?: unknown }).code) && attempt < attempts) continue
      await pool.query(`drop index concurrently if exists ${quoted(name)}`).catch(() => {})
      throw error
    }
  }
}

/** True if an index is valid; undefined: it does not exist. */
async function isUsable(pool: pg.Pool, name: string): Promise<boolean | undefined> {
  const { rows } = await pool.query<{ readonly valid: number }>(
    'select indisvalid as valid from pg_index where indexrelid = to_regclass($1)',
    [quoted(name)],
  )
  return rows[0] === undefined ? undefined : rows[0].valid === 1
}

/** Waits while another session creates an index on the table or alters it, for up to a minute. */
async function waitForTable(pool: pg.Pool, table: string, stop: AbortSignal | undefined): Promise<void> {
  for (let waited = 0; waited < 60_000 && !isStopped(stop); waited += interval) {
    const { rows } = await pool.query<{ readonly busy: number }>(
      `select exists (
         select from pg_locks where relation = to_regclass($1) and granted and pid <> pg_backend_pid()
         and database = (select oid from pg_database where datname = current_database())
         and mode in ('ShareUpdateExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
       ) as busy`,
      [quoted(table)],
    )
    if (rows[0]!.busy === 0) return
    await sleep(interval, undefined, { signal: stop }).catch(() => {})
  }
}

/** Executes a statement that may take minutes. An abort closes the connection, while the server finishes the statement. */
async function onConnection(pool: pg.Pool, text: string, stop: AbortSignal | undefined): Promise<void> {
  const client = await pool.connect()
  let released = false
  const release = (isBroken: boolean) => {
    if (released) return
    released = true
    client.release(isBroken)
  }
  const abort = () => release(true)
  const lost = () => {}
  client.on('error', lost)
  stop?.addEventListener('abort', abort)
  try {
    await client.query(text)
    client.off('error', lost)
    release(false)
  } catch (error) {
    release(true)
    throw error
  } finally {
    stop?.removeEventListener('abort', abort)
  }
}
