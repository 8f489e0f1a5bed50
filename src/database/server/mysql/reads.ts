// The reads of a service: plans on a bounded pool. Heavy ones, by what they cost before, have a share of its connections, so that light
// ones always find one. What nobody waits for any more, or is over its time, is cancelled.
import { ApiError } from '../../../foundation/errors/errors.js'
import { elapsed } from '../../../foundation/runtime/clock.js'
import { isTooLarge, tooLarge } from '../../answer/sink.js'
import type { PlanHandle, ReadAnswer } from '../../database.js'
import { unavailable } from '../../unavailable.js'
import type { ReadOptions } from '../options.js'
import type { ServerReads } from '../reads.js'
import { lossRetrier } from '../retry.js'
import { openShare } from '../share.js'
import type { Client } from './client.js'
import { explained, isCancelled, isConflict, isConnectionLoss, isTimeout } from './errors.js'
import { type MysqlPlanReader, preparePlanReader } from './execute.js'
import { onClient, openPool, type Pool } from './pool.js'
import type { MysqlStatements } from './statements.js'

/** A plan, and what it cost lately: milliseconds. */
interface Registered {
  readonly reader: MysqlPlanReader
  cost: number
}

/** A plan is heavy from this cost on; milliseconds. */
const heavyFrom = 50

/** A look at who still waits; milliseconds. */
const lookEvery = 100

const never = () => false

/** Milliseconds after the end of its time in which a read ends by itself; then its connection is cut. */
const cancelPatience = 1_000

/** Opens the reads; a connection is made with the first one. */
export function openReads(options: ReadOptions, statements: MysqlStatements, failed: (error: Error) => void): ServerReads {
  const { settings, connections, readTimeout, signer } = options
  const pool = openPool(settings, { max: connections, failed })
  const heavy = openShare(Math.max(1, connections >> 1), options.heavyReadQueue, 'Too many reads are waiting')
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
      if (pool.waiting >= options.readQueue) throw unavailable('Too many reads are waiting')
      const end = elapsed() + readTimeout
      const isOver = () => (isGone() ? gone() : elapsed() > end ? unavailable('The read took too long') : null)
      const plan = planOf(known)
      const begun = { pool, options, statements, plan, values, isOver }
      const once = () => onClient(pool, (client) => readOn(client, begun), end - elapsed() + cancelPatience)
      const run = () => retried(once, isOver)
      try {
        return await (plan.cost < heavyFrom ? run() : heavy(run, isOver))
      } catch (error) {
        throw explained(error)
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

async function readOn(client: Client, { pool, options, statements, plan, values, isOver }: BegunRead): Promise<ReadAnswer> {
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
    const answer = await reader.read(client, statements, values, options.answerBytes)
    if (reader.hasLevels) await client.query('commit')
    // A request to end something that is under way may come at any time: the connection is not used again.
    if (isCancelling) client.cut()
    return answer
  } catch (error) {
    if (isCancelling) client.cut()
    else if (reader.hasLevels) await client.query('rollback').catch(() => client.cut())
    if (isTooLarge(error)) throw tooLarge()
    throw (isCancelled(error) ? isOver() : null) ?? error
  } finally {
    clearInterval(timer)
    plan.cost = plan.cost * 0.7 + (elapsed() - began) * 0.3
  }
}

const gone = (): ApiError => new ApiError('ClientClosedRequestError', 'The client has gone')
