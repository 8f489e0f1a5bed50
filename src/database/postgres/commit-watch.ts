// What was committed to a PostgreSQL database, by table. A snapshot says which transactions have ended since the last look; each that this or another
// service made is in the log of commits. Any other transaction may have changed anything.
import { elapsed, pause } from '../../runtime/clock.js'
import { shared } from '../../runtime/shared-calls.js'
import { type CommitWatch, openTableChanges, type TableChanges } from '../cache/table-changes.js'
import type { MainConnection } from '../database.js'
import type { AskServer } from './connection.js'
import { commitTable, epochTable } from './create-tables.js'
import { openDependents } from './dependent-tables.js'
import { positionOf } from './log-position.js'
import type { PositionAfter } from './replicas.js'

export interface PostgresCommits {
  readonly watch: CommitWatch
  readonly changed: MainConnection['changed']
  readonly positionAfter: PositionAfter
}

/** Milliseconds between the beginnings of two looks. */
const apart = 1

/** Transactions that are looked at one by one; where more have ended, everything counts as changed. */
const most = 10_000

/** The end of the primary's log, behind the commits that the statement sees: it was written before them. */
const written = 'case when not pg_is_in_recovery() then cast(pg_current_wal_insert_lsn() as text) end'

/**
 * A look: the snapshot, the server, the end of its log, and the transactions that have ended since the snapshot `$1` of the server `$2`, with the tables that they
 * changed or, where the log does not have them, what became of them. A server that crashes forgets transactions, and empties the table of its epoch.
 */
const lookAt = (hasReplicas: boolean): string => `with now as materialized (
    select pg_current_snapshot() as seen, cast(cast($1 as text) as pg_snapshot) as before,
      concat_ws(' ', pg_postmaster_start_time(), (select epoch from ${epochTable} where id = 1)) as server,
      exists (select from ${epochTable} where id = 1) as has_epoch
  )
  select cast(seen as text), server, cast(has_epoch as int), ${hasReplicas ? written : 'null'}, cast(case
    when server <> cast($2 as text) or cast(seen as text) = cast($1 as text) then null
    when ${idOf('pg_snapshot_xmax(seen)')} - ${idOf('pg_snapshot_xmax(before)')} > ${most} then null
    else (
      select coalesce(json_agg(json_build_array(log.id, log.tables, case when log.id is null then pg_xact_status(ended.id) end)), '[]')
      from (
        select pg_snapshot_xip(before) as id
        union all
        select cast(cast(number as text) as xid8)
        from generate_series(${idOf('pg_snapshot_xmax(before)')}, ${idOf('pg_snapshot_xmax(seen)')} - 1) as number
      ) ended
      left join ${commitTable} log on log.id = ${idOf('ended.id')}
      where pg_visible_in_snapshot(ended.id, seen)
    )
  end as text) from now`

/** A transaction's id as a number. */
function idOf(text: string): string {
  return `cast(cast(${text} as text) as bigint)`
}

const beginEpoch = `insert into ${epochTable} (id, epoch) values (1, cast(gen_random_uuid() as text)) on conflict do nothing`

/** One transaction: its id in the log; the tables as JSON, null where they are not known; what became of one that is not in the log. */
type Ended = readonly [id: number | null, tables: string | null, status: string | null]

/** What the last look has seen. */
interface LastLook {
  /** The position of the log that contains all that the snapshot sees; null: it is not known. */
  readonly position: bigint | null
  readonly snapshot: string
  readonly server: string
}

/** No snapshot of any server. */
const nothing: LastLook = { snapshot: '1:1:', server: '', position: null }

/** `hasReplicas`: the position of the log is asked for too. */
export function watchCommits(ask: AskServer, hasReplicas: boolean): PostgresCommits {
  const look = lookAt(hasReplicas)
  const dependents = openDependents(ask)
  const changes = openTableChanges(dependents.known)
  let seen = nothing
  /** When the last look began that has succeeded, and the last one at all (`elapsed`). */
  let [known, begun] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
  let told = -1

  function forget(): void {
    dependents.forget()
    changes.noteAll()
  }

  async function lookOnce(): Promise<void> {
    begun = elapsed()
    const began = begun
    try {
      const [row] = await ask(look, [seen.snapshot, seen.server])
      const [snapshot, server, hasEpoch, written, ended] = row as [string, string, number, string | null, string | null]
      const isUnchanged = snapshot === seen.snapshot && server === seen.server
      // What was written since, but not committed, need not have been replayed.
      if (!isUnchanged) seen = { snapshot, server, position: written === null ? null : positionOf(written) }
      if (hasEpoch === 0) await ask(beginEpoch, [])
      if (isUnchanged || (ended !== null && noteEnded(changes, JSON.parse(ended)))) await dependents.load()
      else forget()
      known = began
    } catch (error) {
      // Whatever happens while nobody can look counts as a change.
      seen = nothing
      forget()
      throw error
    }
  }

  const asked = shared(lookOnce, () => {
    const left = begun + apart - elapsed()
    return left > 0 ? pause(left) : Promise.resolve()
  })
  return {
    watch: { changes, look: (since) => dependents.isKnowable() && (known > since || asked().then(dependents.isKnowable)) },
    positionAfter: async (since) => {
      if (known <= since) await asked()
      return seen.position
    },
    changed: async () => {
      await asked()
      const now = changes.now()
      if (now === told) return false
      told = now
      return true
    },
  }
}

/** Notes what the transactions have changed. Returns false where that is not known of one of them. */
function noteEnded(changes: TableChanges, ended: readonly Ended[]): boolean {
  for (const [id, tables, status] of ended) {
    if (id === null && status === 'aborted') continue
    if (tables === null) return false
    const changed = JSON.parse(tables) as readonly string[]
    if (changed.length > 0) changes.note(changed)
  }
  return true
}
