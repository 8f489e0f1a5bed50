// The writes of a service on MySQL or MariaDB: serializable transactions on a bounded pool.
import { elapsed } from '../../../foundation/runtime/clock.js'
import type { Transaction } from '../../database.js'
import { commitUnknown } from '../../errors.js'
import type { WriteOptions } from '../connections.js'
import { latestOf } from '../group-commit.js'
import { aloneOf, openServerWrites, registerPlans, type ServerWrites } from '../writes.js'
import type { MysqlReached } from './availability.js'
import { type Client, writing, writingInTurn } from './client.js'
import { explained, isConflict, isConnectionLoss, isLockWait, isReadOnly } from './errors.js'
import { onClient, openPool, type Pool } from './pool.js'
import { preparePlanReader } from './reads.js'
import {
  beginAttempt,
  type MysqlAttempt,
  type MysqlAttemptOptions,
  type MysqlOutcomes,
  openOutcomes,
  runTogether,
  takeTurn,
} from './transaction.js'

/** Milliseconds after the end of its time in which a transaction ends by itself; then its connection is cut. */
const endPatience = 1_000

/** Opens the writes; connections are made when they are needed. */
export function openWrites(
  options: WriteOptions,
  { small, statements, isGalera }: Pick<MysqlReached, 'small' | 'statements' | 'isGalera'>,
  failed: (error: Error) => void,
): ServerWrites {
  const { settings, connections, writtenBytes, signer } = options
  // MySQL ends those that do nothing: none is kept.
  const unkept = { ...settings, pool: { ...settings.pool, min: 0 } }
  const pool = openPool(unkept, { max: aloneOf(connections), greetings: writing, failed })
  // Where all others wait for locks, writes in turn still have a connection.
  const turnPool = connections > 1 ? openPool(unkept, { max: 1, greetings: writingInTurn, failed }) : pool
  const outcomes = openOutcomes(small)
  const plans = registerPlans((plan) => preparePlanReader(plan, signer))

  /** Runs `begun` on a connection, until `deadline`. */
  const begin = <Result>(
    free: Pool,
    deadline: number,
    begun: (client: Client, options: MysqlAttemptOptions) => Promise<Result>,
  ): Promise<Result> => {
    const left = Math.max(1, Math.ceil(deadline - elapsed()))
    const attempt = { statements, readerOf: plans.readerOf, writtenBytes, deadline }
    return onClient(free, (client) => begun(client, attempt), left + endPatience)
  }

  return openServerWrites(options, plans, {
    alone: (work, deadline) =>
      begin(pool, deadline, async (client, attempt) => {
        const under = beginAttempt(client, attempt)
        const result = await tried(under, async (transaction) => {
          // The server has become a node since the start, or is another one. No lock excludes writes on other nodes.
          if (client.isGalera) await takeTurn(client)
          return work(transaction)
        })
        await committed(under, outcomes)
        return result
      }),
    together: (turns) =>
      begin(turnPool, latestOf(turns), async (client, attempt) => {
        const under = await runTogether(client, turns, attempt).catch(async (error: unknown) => {
          await client.query('rollback').catch(() => client.cut())
          throw error
        })
        await committed(under, outcomes)
        return under.outcomes
      }),
    isAlwaysTogether: isGalera,
    activity: () => [pool.activity('write'), ...(turnPool === pool ? [] : [turnPool.activity('write_in_turn')])],
    waiting: () => pool.waiting,
    errors: { isConflict, isLockWait, isConnectionLoss, explained },
    failed,
    close: async () => {
      await turnPool.close()
      if (turnPool !== pool) await pool.close()
    },
  })
}

/** Runs the work of a transaction; where it fails, nothing of it stays. */
async function tried<Result>(under: MysqlAttempt, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
  try {
    const result = await work(under.transaction)
    if (under.failure() !== null) throw under.failure()
    return result
  } catch (error) {
    await under.rollback()
    throw under.failure() ?? error
  }
}

/** Commits. Where the connection is lost meanwhile, it is found out what became of the transaction. */
async function committed(under: Pick<MysqlAttempt, 'id' | 'commit' | 'rollback'>, outcomes: MysqlOutcomes): Promise<void> {
  try {
    await under.commit()
    outcomes.committed()
  } catch (error) {
    const id = under.id()
    if (!isConnectionLoss(error) || isReadOnly(error) || id === null) {
      await under.rollback()
      throw error
    }
    const outcome = await outcomes.outcomeOf(id)
    if (outcome === 'committed') return
    if (outcome === 'aborted') throw error
    throw commitUnknown(error)
  }
}
