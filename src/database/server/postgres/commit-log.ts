// The log of commits: a row for each transaction that writes, with the tables that it changed, written as its last statement. Other services
// read it to know what is outdated (commit-watch.ts).
import type pg from 'pg'
import type { CommitLogAccess } from './commit-log-access.js'
import { type AskServer, execute, executePrepared, onConnection, type Statements } from './connection.js'
import { commitTable } from './create-tables.js'
import type { Sender } from './sender.js'

/** The id of the transaction under way, as a number. */
const ownId = 'cast(cast(pg_current_xact_id() as text) as bigint)'

/** A database that was restored from a dump may have rows of another server, whose ids come again here. */
const insert = `insert into ${commitTable} (id, tables) values (${ownId}, $1) on conflict (id) do update set tables = excluded.tables`

/**
 * Logs what the transaction under way has changed, where the log is used; sent with its other statements. `tables`: null where it cannot be told. Whoever
 * sends the commit learns of a failure.
 */
export function logCommit(sender: Sender, access: CommitLogAccess, tables: ReadonlySet<string> | null): void {
  if (!access.isUsed()) return
  const values = [tables === null ? null : JSON.stringify([...tables])]
  sender.perform(insert, (statement) => executePrepared(sender.client, statement, values)).catch(() => {})
}

/** Transactions that the log goes back; a service that has not looked for longer takes everything for changed. */
const keptTransactions = 20_000
/** Commits of one service after which it removes what is older. */
const removeEvery = 100
/** Milliseconds that this may take; what is left then is removed later. */
const removalTimeout = 1_000

/** A row that says that the removal itself has changed no table. */
const logRemoval = `insert into ${commitTable} (id, tables) select ${ownId}, '[]' from (select count(*) from old) counted
  on conflict (id) do update set tables = excluded.tables`

/** Removes rows from `$1` on that are too old. Those that another service is removing are left to it. */
const removeOld = `with old as (delete from ${commitTable} where id in (select id from ${commitTable}
    where id >= $1 and id < ${ownId} - ${keptTransactions} order by id for update skip locked) returning 1) ${logRemoval}`

/** Removes the rows of another server: ids that this one has not given yet. */
const removeForeign = `with old as (delete from ${commitTable}
  where id >= cast(cast(pg_snapshot_xmax(pg_current_snapshot()) as text) as bigint) returning 1) ${logRemoval}`

const newest = `select cast(coalesce(max(id), 0) as text) from ${commitTable}`

/** Executes a statement that needs every grant on the log which a service needs that writes. @throws where it cannot be used */
export const tryWritingLog = async (ask: AskServer): Promise<void> => void (await ask(removeForeign, []))

/** Keeps the log short. Returns what is to be called after each commit. */
export function openLogRemoval(small: pg.Pool, statements: Statements, access: CommitLogAccess): () => void {
  let commits = 0
  let isRemoving = false
  /** All before it were removed: the index need not be looked through from its beginning, where removed rows may still be. */
  let from = '0'

  async function removeOnce(client: pg.PoolClient): Promise<void> {
    await execute(statements, client, removeForeign, [])
    const { rows } = await execute(statements, client, newest, [])
    await execute(statements, client, removeOld, [from])
    from = String(Math.max(0, Number(rows[0]![0]) - keptTransactions))
  }

  return () => {
    if (++commits % removeEvery !== 0 || isRemoving || !access.isUsed()) return
    isRemoving = true
    // The next removal takes what this one could not.
    onConnection(small, removeOnce, removalTimeout)
      .catch((error: unknown) => void access.refused(error))
      .finally(() => {
        isRemoving = false
      })
  }
}
