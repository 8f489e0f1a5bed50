// A service's writes on MySQL or MariaDB: serializable transactions on a bounded pool.
import { elapsed } from '../../../foundation/runtime/clock.js'
import type { Transaction } from '../../database.js'
import { commitUnknownError } from '../../errors.js'
import type { WriteOptions } from '../connections.js'
import { latestDeadline } from '../group-commit.js'
import { createServerWrites, maxConcurrent, registerPlans, type ServerWrites } from '../writes.js'
import type { MysqlServerConnection } from './availability.js'
import { type Client, groupWriteGreetings, writeGreetings } from './client.js'
import { isConflict, isConnectionLoss, isLockWait, isReadOnly, toApiError } from './errors.js'
import { onClient, openPool, type Pool } from './pool.js'
import { preparePlanReader } from './reads.js'
import {
  beginAttempt,
  createCommitOutcomes,
  lockGroup,
  type MysqlAttempt,
  type MysqlAttemptOptions,
  type MysqlCommitOutcomes,
  runGroup,
} from './transaction.js'

/** Grace period of an overdue transaction in milliseconds, before its connection is cut. */
const endPatience = 1_000

/** Connections are opened on demand. */
export function openWrites(
  options: WriteOptions,
  { small, dialect, isGalera }: Pick<MysqlServerConnection, 'small' | 'dialect' | 'isGalera'>,
  failed: (error: Error) => void,
): ServerWrites {
  const { settings, connections, writtenBytes, signer } = options
  // MySQL closes idle write connections, so the pool has no minimum.
  const unkept = { ...settings, pool: { ...settings.pool, min: 0 } }
  const pool = openPool(unkept, { max: maxConcurrent(connections), greetings: writeGreetings, failed })
  // Reserved for grouped writes, in case all others wait for locks.
  const turnPool = connections > 1 ? openPool(unkept, { max: 1, greetings: groupWriteGreetings, failed }) : pool
  const outcomes = createCommitOutcomes(small)
  const plans = registerPlans((plan) => preparePlanReader(plan, signer))

  /** Runs `begun` on a connection until `deadline`. */
  const begin = <Result>(
    free: Pool,
    deadline: number,
    begun: (client: Client, options: MysqlAttemptOptions) => Promise<Result>,
  ): Promise<Result> => {
    const left = Math.max(1, Math.ceil(deadline - elapsed()))
    const attempt = { dialect, readerOf: plans.readerOf, writtenBytes, deadline }
    return onClient(free, (client) => begun(client, attempt), left + endPatience)
  }

  return createServerWrites(options, plans, {
    runAlone: (work, deadline) =>
      begin(pool, deadline, async (client, attempt) => {
        const under = beginAttempt(client, attempt)
        const result = await tried(under, async (transaction) => {
          // The server has joined a cluster, or is another one: no lock excludes writes on other nodes.
          if (client.isGalera) await lockGroup(client)
          return work(transaction)
        })
        await committed(under, outcomes)
        return result
      }),
    runGroup: (turns) =>
      begin(turnPool, latestDeadline(turns), async (client, attempt) => {
        const under = await runGroup(client, turns, attempt).catch(async (error: unknown) => {
          await client.query('rollback').catch(() => client.cut())
          throw error
        })
        await committed(under, outcomes)
        return under.outcomes
      }),
    isAlwaysGrouped: isGalera,
    activity: () => [pool.activity('write'), ...(turnPool === pool ? [] : [turnPool.activity('write_in_turn')])],
    waiting: () => pool.waiting,
    errors: { isConflict, isLockWait, isConnectionLoss, toApiError },
    failed,
    close: async () => {
      await turnPool.close()
      if (turnPool !== pool) await pool.close()
    },
  })
}

/** Runs the work of a transaction, rolling back on failure. */
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

/** Commits. If the connection is lost, determines the outcome. */
async function committed(under: Pick<MysqlAttempt, 'id' | 'commit' | 'rollback'>, outcomes: MysqlCommitOutcomes): Promise<void> {
  try {
    await under.commit()
    outcomes.committed()
  } catch (error) {
    const id = under.id()
    if (!isConnectionLoss(error) || isReadOnly(error) || id === null) {
      await under.rollback()
      throw error
    }
    const outcome = await outcomes.find(id)
    if (outcome === 'committed') return
    if (outcome === 'aborted') throw error
    throw commitUnknownError(error)
  }
}
