// What became of a transaction whose commit was not answered: the server knows it by the transaction's id. After a crash the server may
// give an id again whose transaction it has forgotten; a table that every crash empties shows that.
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { elapsed, pause } from '../../../foundation/runtime/clock.js'
import type { CommitOutcome } from '../attempts.js'
import { execute, onConnection, type Statements } from './connection.js'
import { epochTable } from './create-tables.js'
import { codeOf, isConnectionLoss } from './errors.js'
import { confirmReplication } from './replication.js'

export interface Outcomes {
  /** Which epoch of the server a transaction begins in; it lasts until the next crash. */
  epoch(): Promise<string>
  /** What became of a transaction that began in `epoch`. Ends it where the server still waits for its commit. */
  outcomeOf(id: string, epoch: string): Promise<CommitOutcome>
  /** What became of a transaction that is committed on the primary: that, once standbys have it where commits wait for them. */
  onceReplicated(): Promise<CommitOutcome>
}

/** Milliseconds in which an outcome can be found out, between two looks, and for one look. */
const [patience, pauseBetween, lookTimeout] = [10_000, 50, 2_000]

const statusOf = `select pg_xact_status(cast($1 as xid8)), (select epoch from ${epochTable} where id = 1)`

/** Nobody can commit it any more: its connection is lost. The session may not have noticed. */
const endSession = `select pg_terminate_backend(pid) from pg_stat_activity
  where cast(cast(backend_xid as text) as bigint) = cast($1 as bigint) % 4294967296`

/** What became of what is committed on the primary: that, once standbys have it. */
const onceReplicated = (small: pg.Pool): Promise<CommitOutcome> =>
  onConnection(small, confirmReplication, lookTimeout).then(
    () => 'committed',
    () => 'unknown',
  )

/** `small`: a pool whose connections are free soon. */
export function openOutcomes(small: pg.Pool, statements: Statements): Outcomes {
  let current: Promise<string> | null = null

  const ask = (text: string, values: readonly unknown[]) =>
    onConnection(small, (client) => execute(statements, client, text, values), lookTimeout)

  async function read(): Promise<string> {
    const insert = `insert into ${epochTable} (id, epoch) values (1, $1) on conflict do nothing`
    await ask(insert, [randomUUID()])
    const { rows } = await ask(`select epoch from ${epochTable} where id = 1`, [])
    return String(rows[0]![0])
  }

  function epoch(): Promise<string> {
    current ??= read().catch(() => {
      current = null
      // No transaction has begun in it: their outcomes are not trusted.
      return ''
    })
    return current
  }

  async function look(id: string, begunIn: string): Promise<CommitOutcome | 'in progress'> {
    const { rows } = await ask(statusOf, [id])
    const [status, now] = rows[0]!
    if (status === 'aborted') return 'aborted'
    if (now !== begunIn) {
      // The next transactions begin in the epoch that is now.
      current = null
      return 'unknown'
    }
    if (status === 'in progress') await ask(endSession, [id])
    return status === 'committed' || status === 'in progress' ? status : 'unknown'
  }

  return {
    epoch,
    onceReplicated: () => onceReplicated(small),
    outcomeOf: async (id, begunIn) => {
      const end = elapsed() + patience
      while (elapsed() < end) {
        try {
          const outcome = await look(id, begunIn)
          // It may be so on the primary alone.
          if (outcome === 'committed') return onceReplicated(small)
          if (outcome !== 'in progress') return outcome
        } catch (error) {
          // The id lies in the future: the server has crashed, and nothing of the transaction had reached its disk.
          if (codeOf(error) === '22023') return 'aborted'
          if (!isConnectionLoss(error)) return 'unknown'
        }
        await pause(pauseBetween)
      }
      return 'unknown'
    },
  }
}
