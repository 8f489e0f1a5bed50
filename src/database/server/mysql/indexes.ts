// Creates Octavo's indexes on MySQL or MariaDB while the tables are in use: one at a time, by one process at a time.
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Model } from '../../../model/schema/types.js'
import { describeIndexes, type OwnIndex, type ReportOwnIndex } from '../../../model/tables/own-indexes.js'
import { quoted } from '../../../model/tables/table.js'
import { type MysqlCatalog, readCatalog, releaseLock, takeLock } from './catalog.js'
import type { Client } from './client.js'
import { onClient, type Pool } from './pool.js'

/** Maximum length of an identifier, and length of the hash that ends a long one. */
const identifierLength = 64
const hashLength = 8

/** The name of an index; long ones end in a hash. */
export function indexName({ name }: OwnIndex): string {
  if (name.length <= identifierLength) return name
  const hash = createHash('sha256').update(name).digest('hex').slice(0, hashLength)
  return `${name.slice(0, identifierLength - hashLength - 1)}_${hash}`
}

/** Creates an index. Neither server supports partial indexes. Every index implicitly ends with the id, which orders ties. */
export const indexStatement = (index: OwnIndex): string =>
  `create index ${quoted(indexName(index))} on ${quoted(index.table)} (${index.columns.map(quoted).join(', ')})`

/** Maximum bytes of an index entry. */
const indexBytes = 3_072

/** Maximum bytes of a value in an index; null: values may exceed an index entry. */
function bytesOf(type: string): number | null {
  if (/text|json|blob/.test(type)) return null
  const [, length] = /char\((\d+)\)/.exec(type) ?? []
  return length === undefined ? 8 : Number(length) * 4
}

/** True if the table has these columns and all their values fit into an index. */
export function isIndexable({ tables }: MysqlCatalog, { table, columns }: OwnIndex): boolean {
  const types = new Map(tables.get(table)?.map(({ name, type }) => [name, type]))
  const bytes = columns.map((column) => (types.has(column) ? bytesOf(types.get(column)!) : null))
  return types.has('id') && bytes.every((each) => each !== null) && bytes.reduce((sum, each) => sum! + each!, 0)! <= indexBytes
}

/** Missing indexes. Of those that have the same columns on these servers, only the first. */
function missingIn(catalog: MysqlCatalog, model: Model): readonly OwnIndex[] {
  const seen = new Set<string>()
  const indexes = describeIndexes(model).filter(({ table, columns }) => {
    const key = [table, ...columns.filter((column, at) => column !== 'id' || at < columns.length - 1)].join(' ')
    return seen.size < seen.add(key).size
  })
  return indexes.filter((index) => catalog.indexes.get(index.table)?.has(indexName(index)) !== true && isIndexable(catalog, index))
}

const interval = 500

const isStopped = (stop: AbortSignal | undefined): boolean => stop?.aborted === true

/**
 * Creates missing indexes, reporting each before it starts. Waits while another process does the same. Returns the number of created
 * indexes.
 * @throws the first error, after trying all other indexes; nothing if `stop` was aborted
 */
export async function createIndexes(pool: Pool, model: Model, report: ReportOwnIndex, stop?: AbortSignal): Promise<number> {
  return onClient(pool, async (client) => {
    const cut = () => client.cut()
    stop?.addEventListener('abort', cut)
    try {
      while (!isStopped(stop)) {
        if (await takeLock(client, 'index', 0)) return await createMissing(client, model, report, stop)
        await sleep(interval, undefined, { signal: stop }).catch(() => {})
      }
      return 0
    } catch (error) {
      if (isStopped(stop)) return 0
      throw error
    } finally {
      stop?.removeEventListener('abort', cut)
    }
  })
}

async function createMissing(client: Client, model: Model, report: ReportOwnIndex, stop: AbortSignal | undefined): Promise<number> {
  const missing = missingIn(await readCatalog(client), model)
  let created = 0
  let failure: unknown = null
  for (const [done, index] of missing.entries()) {
    if (isStopped(stop)) return created
    report(index, done, missing.length)
    try {
      await client.query(indexStatement(index))
      created++
    } catch (error) {
      failure ??= error
    }
  }
  await releaseLock(client, 'index')
  if (failure !== null && !isStopped(stop)) throw failure
  return created
}
