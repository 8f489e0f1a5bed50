// The log of commits: a row for each transaction that writes, with the tables that it changed, written as its last statement. Other services
// read it to know what is outdated (commit-watch.ts).
import type pg from 'pg'
import { execute, executePrepared, onConnection, type Statements } from './connection.js'
import { commitTable } from './create-tables.js'
import type { Sender } from './sender.js'

/** The id of the transaction under way, as a number. */
const ownId = 'cast(cast(pg_current_xact_id() as text) as bigint)'

const insert = `insert into ${commitTable} (id, tables) values (${ownId}, $1)`

/**
 * Logs what the transaction under way has changed; sent with its other statements. `tables`: null where it cannot be told. Whoever sends the commit
 * learns of a failure.
 */
export function logCommit(sender: Sender, tables: ReadonlySet<string> | null): void {
  const values = [tables === null ? null : JSON.stringify([...tables])]
  sender.perform(insert, (statement) => executePrepared(sender.client, statement, values)).catch(() => {})
}

/** Transactions that the log goes back; a service that has not looked for longer takes everything for changed. */
const keptTransactions = 20_000
/** Commits of one service after which it removes what is older. */
const removeEvery = 100
/** Milliseconds that this may take. */
const removalTimeout = 10_000

/** Removes old rows, and logs itself: a change of no table. Rows that another service is removing are left to it. */
const remove = `with old as (delete from ${commitTable} where id in
    (select id from ${commitTable} where id < ${ownId} - ${keptTransactions} order by id for update skip locked) returning 1)
  insert into ${commitTable} (id, tables) select ${ownId}, '[]' from (select count(*) from old) counted`

/** Keeps the log short. Returns what is to be called after each commit. */
export function openLogRemoval(small: pg.Pool, statements: Statements): () => void {
  let commits = 0
  return () => {
    if (++commits % removeEvery !== 0) return
    // The next removal takes what this one could not.
    onConnection(small, (client) => execute(statements, client, remove, []), removalTimeout).catch(() => {})
  }
}
