// Reads of a service: plans on a bounded pool. Expensive plans, by their measured cost, get a part of the connections, so that cheap ones
// always find one. Reads that are obsolete or too slow are cancelled.

import { ApiError } from '../../../foundation/errors/errors.js'
import { elapsed } from '../../../foundation/runtime/clock.js'
import type { PlanHandle, ReadResult } from '../../database.js'
import { unavailableError } from '../../errors.js'
import { maxHeavyReadsInQueue } from '../../limits.js'
import type { Fill, Level, ReadPlan, Statement } from '../../plan.js'
import type { Signer } from '../../response/signed-addresses.js'
import { createSink, isTooLarge, responseTooLarge } from '../../response/sink.js'
import { prepareResponse, type ResultRow, type Values } from '../../response/write.js'
import { createConcurrencyLimit } from '../concurrency-limit.js'
import type { ReadOptions, ServerReads } from '../connections.js'
import { lossRetrier } from '../retry-transaction.js'
import type { Client } from './client.js'
import { isCancelled, isConflict, isConnectionLoss, isTimeout, toApiError } from './errors.js'
import { onClient, openPool, type Pool } from './pool.js'
import { execute, type MysqlStatements } from './statements.js'

/** A plan and its recent cost in milliseconds. */
interface Registered {
  readonly reader: MysqlPlanReader
  cost: number
}

/** A plan is heavy from this cost on; milliseconds. */
const heavyFrom = 50

/** A look at who still waits; milliseconds. */
const lookEvery = 100

const never = () => false

/** Milliseconds of grace for a read that is over its time; then its connection is cut. */
const cancelPatience = 1_000

/** Opens the reads; a connection is made with the first one. */
export function openReads(options: ReadOptions, statements: MysqlStatements, failed: (error: Error) => void): ServerReads {
  const { settings, connections, readTimeoutMs: readTimeout, signer } = options
  const pool = openPool(settings, { max: connections, failed })
  const heavy = createConcurrencyLimit(Math.max(1, connections >> 1), maxHeavyReadsInQueue, 'Too many reads are waiting')
  const retried = lossRetrier({ isConnectionLoss, isTimeout, isConflict }, failed)
  const registered = new Map<number, Registered>()
  let plans = 0

  function planOf({ id, plan }: PlanHandle): Registered {
    const known = registered.get(id)
    if (known !== undefined) return known
    const made = { reader: preparePlanReader(plan, signer), cost: 0 }
    registered.set(id, made)
    return made
  }

  return {
    dialect: statements.dialect,
    register: (plan) => ({ id: ++plans, plan }),
    unregister: ({ id }) => void registered.delete(id),
    execute: async (known, values, isGone = never) => {
      if (isGone()) throw gone()
      if (pool.waiting >= options.readQueue) throw unavailableError('Too many reads are waiting')
      const end = elapsed() + readTimeout
      const isOver = () => (isGone() ? gone() : elapsed() > end ? unavailableError('The read took too long') : null)
      const plan = planOf(known)
      const begun = { pool, options, statements, plan, values, isOver }
      const once = () => onClient(pool, (client) => readOn(client, begun), end - elapsed() + cancelPatience)
      const run = () => retried(once, isOver)
      try {
        return await (plan.cost < heavyFrom ? run() : heavy(run, isOver))
      } catch (error) {
        throw toApiError(error)
      }
    },
    activity: () => pool.activity('read'),
    close: () => pool.close(),
  }
}

/** A read that has its connection. */
interface BegunRead {
  readonly pool: Pool
  readonly options: ReadOptions
  readonly statements: MysqlStatements
  readonly plan: Registered
  readonly values: readonly unknown[]
  /** Why the read is not to go on; null: it is. */
  isOver(): ApiError | null
}

async function readOn(client: Client, { pool, options, statements, plan, values, isOver }: BegunRead): Promise<ReadResult> {
  const { reader } = plan
  const over = isOver()
  if (over !== null) throw over
  const began = elapsed()
  let isCancelling = false
  const timer = setInterval(() => {
    if (isCancelling || isOver() === null) return
    isCancelling = true
    void pool.cancel(client)
  }, lookEvery)
  try {
    if (reader.hasLevels) await client.query('start transaction with consistent snapshot, read only')
    const answer = await reader.read(client, statements, values, options.responseBytes)
    if (reader.hasLevels) await client.query('commit')
    // A request to end something that is under way may come at any time: the connection is not used again.
    if (isCancelling) client.cut()
    return answer
  } catch (error) {
    if (isCancelling) client.cut()
    else if (reader.hasLevels) await client.query('rollback').catch(() => client.cut())
    if (isTooLarge(error)) throw responseTooLarge()
    throw (isCancelled(error) ? isOver() : null) ?? error
  } finally {
    clearInterval(timer)
    plan.cost = plan.cost * 0.7 + (elapsed() - began) * 0.3
  }
}

const gone = (): ApiError => new ApiError('ClientClosedRequestError', 'The client has gone')

/** Reads the answers of one plan. */
export interface MysqlPlanReader {
  /** Several statements need one snapshot. */
  readonly hasLevels: boolean
  /** Executes a plan's statements on a connection and writes its answer. @throws AnswerTooLarge beyond `limit` bytes */
  read(client: Client, statements: MysqlStatements, values: Values, limit: number): Promise<ReadResult>
}

/** A first room for an answer; bytes. */
const roomBytes = 16 * 1024

interface FoundRows {
  readonly rows: Map<Statement, readonly ResultRow[]>
  total: number | null
}

/** Prepares the reader of a plan. `signer`: signs addresses of private files; null: everyone may read them. */
export function preparePlanReader(plan: ReadPlan, signer: Signer | null): MysqlPlanReader {
  const { root, envelope } = plan
  let found: FoundRows = { rows: new Map(), total: null }
  const rowsOf = (statement: Statement) => () => found.rows.get(statement) ?? []
  const write = prepareResponse(
    {
      query: rowsOf,
      count: () => () => found.total!,
      page: ({ statement }) => {
        const rows = rowsOf(statement)
        return () => ({ rows: rows(), total: found.total })
      },
      signer: plan.unsigned === true ? null : signer,
    },
    plan,
  )
  return {
    hasLevels: envelope.kind !== 'count' && (root.fills.length > 0 || (envelope.kind === 'list' && envelope.count !== null)),
    read: async (client, statements, values, limit) => {
      const read = await findRows(plan, values, (statement, parents) => rowsOn(client, statements, statement, { values, parents }))
      // Nothing waits between these lines: the answer is written from this read.
      found = read
      const sink = createSink(limit)
      const room = Buffer.allocUnsafe(roomBytes)
      sink.begin(room)
      try {
        if (!write(values, sink)) return null
      } finally {
        found = { rows: new Map(), total: null }
      }
      const { length, own } = sink.end()
      return { bytes: own ?? room.subarray(0, length), release: () => {} }
    },
  }
}

/** Executes one statement of a plan. `parents`: the ids of the rows above. */
type FindRows = (statement: Statement, parents: readonly number[]) => Promise<readonly ResultRow[]>

interface Bound {
  readonly values: Values
  readonly parents: readonly number[]
}

async function rowsOn(
  client: Client,
  statements: MysqlStatements,
  { sql, parameters }: Statement,
  { values, parents }: Bound,
): Promise<readonly ResultRow[]> {
  const bound = parameters.map((parameter) => {
    if (parameter.from === 'values') return values[parameter.index]
    return parameter.from === 'constant' ? parameter.value : JSON.stringify(parents)
  })
  return (await execute(statements, client, sql, bound)).rows
}

async function findRows({ root, envelope }: ReadPlan, values: Values, find: FindRows): Promise<FoundRows> {
  const read: FoundRows = { rows: new Map(), total: null }
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

/** Finds the rows of a level, for those above it, and of all below it. */
async function addLevel(read: FoundRows, level: Level, parents: readonly number[], find: FindRows): Promise<readonly ResultRow[]> {
  const rows = (await find(level.statement, parents)).map((row) => stored(level, row as unknown[]))
  read.rows.set(level.statement, rows)
  const ids = distinct(rows, level.idAt)
  if (ids.length > 0) for (const fill of level.fills) await addFill(read, fill, ids, find)
  return rows
}

async function addFill(read: FoundRows, fill: Fill, parents: readonly number[], find: FindRows): Promise<void> {
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

/**
 * Converts a row to stored forms. Both servers return JSON values; Strapi's driver returns a string without quotes, and Strapi parses it
 * once more if it is JSON.
 */
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

/** The value of a JSON text; any other text is returned unchanged. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
