// What became of a transaction whose commit was not answered: it has written a row with an id of its own, which is there if it was
// committed, and locked while the server has not decided.
import { elapsed, pause } from '../../../foundation/runtime/clock.js'
import type { CommitOutcome } from '../attempts.js'
import { outcomeTable } from './create-tables.js'
import { isConflict, isConnectionLoss, numberOf } from './errors.js'
import { onClient, type Pool } from './pool.js'

export interface MysqlOutcomes {
  /** What became of a transaction that noted `id`. */
  outcomeOf(id: string): Promise<CommitOutcome>
  /** A transaction was committed: now and then old rows are removed. */
  committed(): void
}

/** The statement by which a transaction notes its id, which has no characters that need quotes. */
export const noteStatement = (id: string): string => `insert into ${outcomeTable} (id) values ('${id}')`

/** Milliseconds in which an outcome can be found out, between two looks, and for one look. */
const [patience, pauseBetween, lookTimeout] = [10_000, 50, 5_000]

/** The server's number of an error about a key that is there already. */
const isThere = 1062

/** Commits between two removals, and rows that one removes: those of more than an hour. */
const [commitsBetween, removedRows] = [1_000, 2_000]

/**
 * `small`: a pool whose connections are free soon. On a node of a Galera cluster, a look at what is there would say nothing of a commit that is on its
 * way from another node: the id is written, which only one of the two can do.
 */
export function openOutcomes(small: Pool): MysqlOutcomes {
  let commits = 0

  const look = (id: string) =>
    onClient(
      small,
      (client) =>
        client.query(client.isGalera ? noteStatement(id) : `select id from ${outcomeTable} where id = '${id}' lock in share mode`),
      lookTimeout,
    )
  const removal = `delete from ${outcomeTable} where written_at < from_unixtime(unix_timestamp() - 3600) limit ${removedRows}`

  return {
    outcomeOf: async (id) => {
      const end = elapsed() + patience
      while (elapsed() < end) {
        try {
          // Waits for the lock of a transaction that is under way.
          const { rows } = await look(id)
          return rows.length > 0 ? 'committed' : 'aborted'
        } catch (error) {
          if (numberOf(error) === isThere) return 'committed'
          if (!isConnectionLoss(error) && !isConflict(error)) return 'unknown'
        }
        await pause(pauseBetween)
      }
      return 'unknown'
    },
    committed: () => {
      if (++commits % commitsBetween !== 0) return
      onClient(small, (client) => client.query(removal), lookTimeout).catch(() => {})
    },
  }
}
