// The reads of a service: plans on a bounded pool. Heavy ones, by what they cost before, have a share of its connections, so that light
// ones always find one. What nobody waits for any more, or is over its time, is cancelled.
import type pg from 'pg'
import { ApiError } from '../../../foundation/errors/errors.js'
import { elapsed } from '../../../foundation/runtime/clock.js'
import { isTooLarge, tooLarge } from '../../answer/sink.js'
import type { PlanHandle, ReadAnswer, ServerRole } from '../../database.js'
import { unavailable } from '../../unavailable.js'
import type { ReadOptions } from '../options.js'
import type { ServerReads } from '../reads.js'
import { lossRetrier, type Retried } from '../retry.js'
import { openShare } from '../share.js'
import { cancel } from './cancel.js'
import { onConnection, openPool, poolActivity, type Statements } from './connection.js'
import { postgresDialect } from './dialect.js'
import { cancelled, codeOf, explained, isConflict, isConnectionLoss, isTimeout } from './errors.js'
import { type PlanReader, preparePlanReader } from './execute.js'

/** A plan, and what it cost lately: milliseconds. */
interface Registered {
  readonly reader: PlanReader
  cost: number
}

/** A plan is heavy from this cost on; milliseconds. */
const heavyFrom = 50

/** A look at who still waits; milliseconds. */
const lookEvery = 100

const never = () => false

/** Milliseconds after the end of its time in which a read ends by itself; then its connection is cut. */
const cancelPatience = 1_000

/** How a read is executed on one server. */
export interface ReadTerms {
  readonly isGone: () => boolean
  /** When its time is over (`elapsed`). */
  readonly end: number
  /** The standby that is to execute it; null: the primary. */
  readonly standby: string | null
}

/** Reads on one server, which may be a replica. */
export interface RoleReads extends ServerReads {
  executeBy(known: PlanHandle, values: readonly unknown[], terms: ReadTerms): Promise<ReadAnswer>
}

/** Opens the reads; a connection is made with the first one. What fails on a replica is executed on the primary instead of once more. */
export function openReads(
  options: ReadOptions,
  statements: Statements,
  failed: (error: Error) => void,
  role: ServerRole = 'primary',
): RoleReads {
  const { settings, connections, readTimeout, signer } = options
  const pool = openPool(settings, { max: connections, pipelined: false, mayBeStandby: role === 'replica', failed })
  const heavy = openShare(Math.max(1, connections >> 1), options.heavyReadQueue, 'Too many reads are waiting')
  const onPrimary = role === 'primary'
  const retried: Retried = onPrimary ? lossRetrier({ isConnectionLoss, isTimeout, isConflict }, failed) : (work) => work()
  const registered = new Map<number, Registered>()
  let plans = 0

  function planOf({ id, plan }: PlanHandle): Registered {
    const known = registered.get(id)
    if (known !== undefined) return known
    const made = { reader: preparePlanReader(plan, signer, !onPrimary), cost: 0 }
    registered.set(id, made)
    return made
  }

  async function executeBy(known: PlanHandle, values: readonly unknown[], { isGone, end, standby }: ReadTerms): Promise<ReadAnswer> {
    const isOver = () => (isGone() ? gone() : elapsed() > end ? unavailable('The read took too long') : null)
    const over = isOver()
    if (over !== null) throw over
    if (pool.waitingCount >= options.readQueue) throw unavailable('Too many reads are waiting')
    const plan = planOf(known)
    const once = () =>
      onConnection(
        pool,
        (client) => readOn(client, { pool, options, statements, plan, values, isOver, standby }),
        end - elapsed() + cancelPatience,
      )
    const run = () => retried(once, isOver)
    try {
      return await (plan.cost < heavyFrom ? run() : heavy(run, isOver))
    } catch (error) {
      throw explained(error)
    }
  }

  return {
    dialect: postgresDialect,
    register: (plan) => ({ id: ++plans, plan }),
    unregister: ({ id }) => void registered.delete(id),
    executeBy,
    execute: (known, values, isGone = never) => executeBy(known, values, { isGone, end: elapsed() + readTimeout, standby: null }),
    activity: () => poolActivity('read', pool),
    close: () => pool.end(),
  }
}

/** A read that has its connection. */
interface BegunRead {
  readonly pool: pg.Pool
  readonly options: ReadOptions
  readonly statements: Statements
  readonly plan: Registered
  readonly values: readonly unknown[]
  /** The standby that is to execute it; null: the primary. */
  readonly standby: string | null
  /** Why the read is not to go on; null: it is. */
  isOver(): ApiError | null
}

async function readOn(client: pg.PoolClient, { pool, options, statements, plan, values, isOver, standby }: BegunRead): Promise<ReadAnswer> {
  const { text } = plan.reader
  const over = isOver()
  if (over !== null) throw over
  const began = elapsed()
  const watch = watchRead(pool, client, isOver)
  try {
    const statement = statements.known(text) ?? (await statements.describe(text, client))
    // On a standby, a snapshot is not told from others by its text: transactions that are open are missing there.
    return await plan.reader.read(client, statement, { values, limit: options.answerBytes, isCommitted: standby === null, standby })
  } catch (error) {
    if (isTooLarge(error)) throw tooLarge()
    throw (codeOf(error) === cancelled ? isOver() : null) ?? error
  } finally {
    // Before the connection is used again: the request must not end another statement.
    await watch.end()
    plan.cost = plan.cost * 0.7 + (elapsed() - began) * 0.3
  }
}

const gone = (): ApiError => new ApiError('ClientClosedRequestError', 'The client has gone')

interface Watch {
  /** Resolves when no request to cancel is under way any more, and the server has acted on those before. */
  end(): Promise<void>
}

/** Cancels what a connection executes once `isOver` says so. */
function watchRead(pool: pg.Pool, client: pg.PoolClient, isOver: () => ApiError | null): Watch {
  let cancelling: Promise<void> | null = null
  const timer = setInterval(() => {
    if (isOver() !== null) cancelling ??= cancel(pool.options, client)
  }, lookEvery)
  return {
    end: async () => {
      clearInterval(timer)
      if (cancelling === null) return
      await cancelling
      // A request that came late ends this one.
      await client.query('select pg_sleep(0.05)').catch(() => {})
    },
  }
}
