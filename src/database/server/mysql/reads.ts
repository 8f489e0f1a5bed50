// A service's reads on MySQL or MariaDB: one statement per level of a plan, in one snapshot.
import type { ReadResult } from '../../database.js'
import type { Dialect } from '../../dialect.js'
import type { Fill, Level, ReadPlan, Statement } from '../../plan.js'
import type { Signer } from '../../response/signed-addresses.js'
import type { ResultRow, Values } from '../../response/write.js'
import type { ReadOptions, ServerReads } from '../connections.js'
import { createServerReads, prepareResult } from '../reads.js'
import { lossRetrier } from '../retry-transaction.js'
import type { Client } from './client.js'
import { isCancelled, isConflict, isConnectionLoss, isTimeout, toApiError } from './errors.js'
import { onClient, openPool } from './pool.js'
import { insertValues, type MysqlStatement } from './translate-sql.js'

/** Connections are opened on demand. */
export function openReads(options: ReadOptions, dialect: Dialect, failed: (error: Error) => void): ServerReads {
  const pool = openPool(options.settings, { max: options.connections, failed })
  return createServerReads<Client, MysqlPlanReader>(options, {
    dialect,
    prepare: (plan) => preparePlanReader(plan, options.signer),
    waiting: () => pool.waiting,
    lend: (work, timeoutMs) => onClient(pool, work, timeoutMs),
    retry: lossRetrier({ isConnectionLoss, isTimeout, isConflict }, failed),
    read: (client, reader, values) => readInSnapshot(client, reader, { values, maxBytes: options.responseBytes }),
    cancel: pool.cancel,
    afterCancel: async (client) => client.cut(),
    isCancelled,
    toApiError,
    activity: () => pool.activity('read'),
    close: pool.close,
  })
}

async function readInSnapshot(
  client: Client,
  reader: MysqlPlanReader,
  { values, maxBytes }: { readonly values: Values; readonly maxBytes: number },
): Promise<ReadResult> {
  if (!reader.hasLevels) return reader.read(client, values, maxBytes)
  try {
    await client.query('start transaction with consistent snapshot, read only')
    const result = await reader.read(client, values, maxBytes)
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch(() => client.cut())
    throw error
  }
}

export interface MysqlPlanReader {
  /** Whether there are several statements, which need a snapshot. */
  readonly hasLevels: boolean
  /** Executes the plan's statements and writes the response. @throws ResponseTooLarge beyond `limit` bytes */
  read(client: Client, values: Values, limit: number): Promise<ReadResult>
}

interface FoundLevels {
  readonly rows: Map<Statement, readonly ResultRow[]>
  total: number | null
}

/** Prepares a plan. `signer`: signs URLs of private files; null: all files are public. */
export function preparePlanReader(plan: ReadPlan, signer: Signer | null): MysqlPlanReader {
  const { root, envelope } = plan
  const write = prepareResult(plan, signer, false)
  return {
    hasLevels: envelope.kind !== 'count' && (root.fills.length > 0 || (envelope.kind === 'list' && envelope.count !== null)),
    read: async (client, values, limit) =>
      write(await findRows(plan, values, (statement, parents) => findRowsOn(client, statement, values, parents)), values, limit),
  }
}

/** Executes one statement of a plan. `parents`: ids of the parent rows. */
type FindRows = (statement: Statement, parents: readonly number[]) => Promise<readonly ResultRow[]>

async function findRowsOn(client: Client, statement: Statement, values: Values, parents: readonly number[]): Promise<readonly ResultRow[]> {
  const text = insertValues(statement as MysqlStatement, (parameter) => {
    if (parameter.from === 'values') return values[parameter.index]
    return parameter.from === 'constant' ? parameter.value : JSON.stringify(parents)
  })
  return (await client.query(text, statement.sql)).rows
}

async function findRows({ root, envelope }: ReadPlan, values: Values, find: FindRows): Promise<FoundLevels> {
  const read: FoundLevels = { rows: new Map(), total: null }
  const numberOf = async (statement: Statement) => Number((await find(statement, []))[0]![0])
  if (envelope.kind === 'count') {
    read.total = await numberOf(envelope.count)
    return read
  }
  const rows = await addLevel(read, root, [], find)
  if (envelope.kind !== 'list' || envelope.count === null) return read
  // The last page implies the total.
  const [start, limit] = [values[envelope.start] as number, values[envelope.limit] as number]
  const isLast = rows.length < limit && (rows.length > 0 || start === 0)
  read.total = isLast ? start + rows.length : await numberOf(envelope.count)
  return read
}

const distinct = (rows: readonly ResultRow[], at: number): readonly number[] => [...new Set(rows.map((row) => row[at] as number))]

/** Finds the rows of a level for the given parents, and those of all levels below it. */
async function addLevel(read: FoundLevels, level: Level, parents: readonly number[], find: FindRows): Promise<readonly ResultRow[]> {
  const rows = (await find(level.statement, parents)).map((row) => stored(level, row as unknown[]))
  read.rows.set(level.statement, rows)
  const ids = distinct(rows, level.idAt)
  if (ids.length > 0) for (const fill of level.fills) await addFill(read, fill, ids, find)
  return rows
}

async function addFill(read: FoundLevels, fill: Fill, parents: readonly number[], find: FindRows): Promise<void> {
  if (fill.kind === 'rows') {
    await addLevel(read, fill.level, parents, find)
    return
  }
  const statement = fill.kind === 'count' ? fill.statement : fill.links
  const rows = await find(statement, parents)
  read.rows.set(statement, rows)
  if (fill.kind === 'count') return
  for (const [uid, level] of Object.entries(fill.levels)) {
    const named = rows.filter((row) => row[1] === uid)
    if (named.length > 0) await addLevel(read, level, distinct(named, 2), find)
  }
}

/** Converts a row to stored values. Strapi's driver returns a JSON string without quotes, and Strapi parses it again if it is JSON. */
function stored({ columns }: Level, row: unknown[]): ResultRow {
  for (const { at, validAt, answer } of columns) {
    if (answer !== 'json' || validAt === undefined || row[at] === null) continue
    const value = parsed(row[at] as string)
    const read = typeof value === 'string' ? parsed(value) : value
    row[validAt] = typeof read === 'string' ? 0 : 1
    row[at] = typeof read === 'string' ? read : JSON.stringify(read)
  }
  return row
}

/** Parses JSON; other text is returned unchanged. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
