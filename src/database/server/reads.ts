// A service's reads on a server: plans on a bounded pool. Heavy plans, by measured cost, are limited to a share of the connections, so that
// light ones find a free one. Obsolete and slow reads are cancelled.
import { ApiError } from '../../foundation/errors/errors.js'
import { elapsed } from '../../foundation/runtime/clock.js'
import type { PlanHandle, ReadDatabase, ReadResult } from '../database.js'
import { unavailableError } from '../errors.js'
import { maxHeavyReadsInQueue } from '../limits.js'
import type { ReadPlan, Statement } from '../plan.js'
import type { Signer } from '../response/signed-addresses.js'
import { createSink, isTooLarge, prepareResponse, type ResultRow, responseTooLarge, type Values } from '../response/write.js'
import type { ReadOptions, ServerReads } from './connections.js'
import type { Retry } from './retry-transaction.js'

interface RegisteredPlan<Reader> {
  readonly reader: Reader
  cost: number
}

/** Lower bound of heavy plans in milliseconds. */
const heavyFromMs = 50

/** Milliseconds between checks whether a read is still wanted. */
const watchIntervalMs = 100

/** Grace period of an overdue read in milliseconds, before its connection is cut. */
const cancelPatienceMs = 1_000

interface ReadTerms {
  readonly isGone: () => boolean
  readonly end: number
  /** The standby to execute it; null: the primary. */
  readonly standby: string | null
}

/** Reads on one server, which may be a replica. */
export interface RoleReads extends ServerReads {
  executeBy(known: PlanHandle, values: Values, terms: ReadTerms): Promise<ReadResult>
}

/** The parts of reads that depend on the server. */
interface ReadParts<Client, Reader> extends Pick<ReadDatabase, 'dialect' | 'close'>, Pick<ServerReads, 'activity'> {
  prepare(plan: ReadPlan): Reader
  waiting(): number
  lend(work: (client: Client) => Promise<ReadResult>, timeoutMs: number): Promise<ReadResult>
  readonly retry: Retry
  /** @throws ResponseTooLarge beyond the limit of the options */
  read(client: Client, reader: Reader, values: Values, standby: string | null): Promise<ReadResult>
  /** Cancels the connection's current statement on the server. */
  cancel(client: Client): Promise<void>
  /** Called before a connection is reused after `cancel`: the cancellation may arrive late. */
  afterCancel(client: Client): Promise<unknown>
  isCancelled(error: unknown): boolean
  toApiError(error: unknown): unknown
}

/** Connections are opened on demand. */
export function createServerReads<Client, Reader>(options: ReadOptions, parts: ReadParts<Client, Reader>): RoleReads {
  const heavy = createConcurrencyLimit(Math.max(1, options.connections >> 1), maxHeavyReadsInQueue, 'Too many reads are waiting')
  const registered = new Map<number, RegisteredPlan<Reader>>()
  let plans = 0

  function planOf({ id, plan }: PlanHandle): RegisteredPlan<Reader> {
    const known = registered.get(id) ?? { reader: parts.prepare(plan), cost: 0 }
    registered.set(id, known)
    return known
  }

  async function executeBy(known: PlanHandle, values: Values, { isGone, end, standby }: ReadTerms): Promise<ReadResult> {
    const isOver = () => {
      if (isGone()) return new ApiError('ClientClosedRequestError', 'The client has gone')
      return elapsed() > end ? unavailableError('The read took too long') : null
    }
    const over = isOver()
    if (over !== null) throw over
    if (parts.waiting() >= options.readQueue) throw unavailableError('Too many reads are waiting')
    const plan = planOf(known)
    const readOn = async (client: Client) => {
      const began = elapsed()
      try {
        return await watchRead(parts, client, isOver, () => parts.read(client, plan.reader, values, standby))
      } finally {
        plan.cost = plan.cost * 0.7 + (elapsed() - began) * 0.3
      }
    }
    const run = () => parts.retry(() => parts.lend(readOn, end - elapsed() + cancelPatienceMs), isOver)
    try {
      return await (plan.cost < heavyFromMs ? run() : heavy(run, isOver))
    } catch (error) {
      throw parts.toApiError(error)
    }
  }

  return {
    dialect: parts.dialect,
    register: (plan) => ({ id: ++plans, plan }),
    unregister: ({ id }) => void registered.delete(id),
    executeBy,
    execute: (known, values, isGone = () => false) =>
      executeBy(known, values, { isGone, end: elapsed() + options.readTimeoutMs, standby: null }),
    activity: parts.activity,
    close: parts.close,
  }
}

/** Executes a read and cancels it once `isOver` returns an error. */
async function watchRead<Client>(
  { cancel, afterCancel, isCancelled }: Pick<ReadParts<Client, unknown>, 'cancel' | 'afterCancel' | 'isCancelled'>,
  client: Client,
  isOver: () => ApiError | null,
  read: () => Promise<ReadResult>,
): Promise<ReadResult> {
  const over = isOver()
  if (over !== null) throw over
  let cancelling: Promise<void> | null = null
  const timer = setInterval(() => {
    if (isOver() !== null) cancelling ??= cancel(client)
  }, watchIntervalMs)
  try {
    return await read()
  } catch (error) {
    if (isTooLarge(error)) throw responseTooLarge()
    throw (isCancelled(error) ? isOver() : null) ?? error
  } finally {
    clearInterval(timer)
    if (cancelling !== null) {
      await cancelling
      await afterCancel(client)
    }
  }
}

/** The rows of a plan's statements, and its total. */
interface PlanRows {
  readonly rows: ReadonlyMap<Statement, readonly ResultRow[]>
  readonly total: number | null
}

/** Initial buffer size of a response. */
const roomBytes = 16 * 1024

/** Writes the response of a plan from its rows. @throws ResponseTooLarge beyond `maxBytes` */
type WriteResult = (read: PlanRows, values: Values, maxBytes: number) => ReadResult

/** `signer`: signs URLs of private files; null: all files are public. */
export function prepareResult(plan: ReadPlan, signer: Signer | null, nullsLast: boolean): WriteResult {
  const nothing: PlanRows = { rows: new Map(), total: null }
  let found = nothing
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
      nullsLast,
    },
    plan,
  )
  return (read, values, maxBytes) => {
    const sink = createSink(maxBytes)
    const room = Buffer.allocUnsafe(roomBytes)
    sink.begin(room)
    found = read
    try {
      if (!write(values, sink)) return null
    } finally {
      found = nothing
    }
    const { length, own } = sink.end()
    return { bytes: own ?? room.subarray(0, length), release: () => {} }
  }
}

/**
 * Limits the number of concurrent tasks. Others wait in a bounded queue for a free slot. `refusal`: error message if the queue is full.
 * `isOver`: the error of a cancelled task, or null.
 */
function createConcurrencyLimit(
  most: number,
  queue: number,
  refusal: string,
): <Result>(work: () => Promise<Result>, isOver: () => ApiError | null) => Promise<Result> {
  let running = 0
  const waiting = new Set<() => void>()

  /** Resolves when it is the caller's turn. @throws the error of `isOver` */
  async function turn(isOver: () => ApiError | null): Promise<void> {
    if (waiting.size >= queue) throw unavailableError(refusal)
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve, reject) => {
      waiting.add(resolve)
      timer = setInterval(() => {
        const over = isOver()
        if (over !== null && waiting.delete(resolve)) reject(over)
      }, watchIntervalMs)
    }).finally(() => clearInterval(timer))
  }

  return async (work, isOver) => {
    // A woken waiter takes over the slot of the finished task.
    if (running >= most) await turn(isOver)
    else running++
    try {
      return await work()
    } finally {
      const [next] = waiting
      if (next === undefined) {
        running--
      } else {
        waiting.delete(next)
        next()
      }
    }
  }
}
