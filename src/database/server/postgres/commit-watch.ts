// What was committed to a PostgreSQL database, by table. A snapshot says which transactions have ended since the last look; each that this or another
// service made is in the log of commits. Any other transaction may have changed anything.
import { elapsed } from '../../../foundation/runtime/clock.js'
import { shared } from '../../../foundation/runtime/shared-calls.js'
import { type CommitWatch, openTableChanges, type TableChanges } from '../../cache/table-changes.js'
import type { MainConnection } from '../../database.js'
import type { CommitLogAccess } from './commit-log-access.js'
import type { AskServer } from './connection.js'
import { commitTable, epochTable } from './create-tables.js'
import { openDependents } from './dependent-tables.js'
import { endOfLog, type LogPosition, positionOf } from './log-position.js'
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

/**
 * A look: the snapshot, the server, the end of its log, and the transactions that have ended since the snapshot `$1` of the server `$2`, with the tables that they
 * changed or, where the log does not have them, what became of them. A row of the log counts if its own transaction has written it: others come from a
 * dump of another server. A server that crashes forgets transactions, and empties the table of its epoch.
 */
const lookAt = (hasReplicas: boolean): string => `with now as materialized (
    select pg_current_snapshot() as seen, cast(cast($1 as text) as pg_snapshot) as before,
      concat_ws(' ', pg_postmaster_start_time(), (select epoch from ${epochTable} where id = 1)) as server,
      exists (select from ${epochTable} where id = 1) as has_epoch
  )
  select cast(seen as text), server, cast(has_epoch as int), ${hasReplicas ? endOfLog : 'null'}, cast(case
    when server <> cast($2 as text) or cast(seen as text) = cast($1 as text) then null
    when ${idOf('pg_snapshot_xmax(seen)')} - ${idOf('pg_snapshot_xmax(before)')} > ${most} then null
    else (
      select coalesce(json_agg(json_build_array(logged, case when logged is null then pg_xact_status(id) end)), '[]') from (select id, (
        select coalesce(log.tables, 'null') from ${commitTable} log
        where log.id = ${idOf('ended.id')} and cast(cast(log.xmin as text) as bigint) = log.id % 4294967296
      ) as logged from (
        select pg_snapshot_xip(before) as id
        union all
        select cast(cast(number as text) as xid8)
        from generate_series(${idOf('pg_snapshot_xmax(before)')}, ${idOf('pg_snapshot_xmax(seen)')} - 1) as number
      ) ended where pg_visible_in_snapshot(id, seen)) known
    )
  end as text) from now`

/**
 * A look that needs no table: the snapshot, the server and the end of its log. A server that crashes begins again with another checkpoint. What ended
 * transactions have changed is not known.
 */
const lookWithoutLog = (hasReplicas: boolean): string => `select cast(pg_current_snapshot() as text),
  concat_ws(' ', pg_postmaster_start_time(), (select checkpoint_lsn from pg_control_checkpoint())), 1, ${hasReplicas ? endOfLog : 'null'}, null`

/** A transaction's id as a number. */
function idOf(text: string): string {
  return `cast(cast(${text} as text) as bigint)`
}

const newEpoch = `insert into ${epochTable} (id, epoch) values (1, cast(gen_random_uuid() as text)) on conflict do nothing`

/** Begins an epoch. Without one a crash would not be noticed. Resolves to false where that is not possible. */
const beginEpoch = (ask: AskServer): Promise<boolean> =>
  ask(newEpoch, []).then(
    () => true,
    () => false,
  )

/** One transaction: what the log has of it, as JSON: its tables, or null where they are not known; what became of one that is not in the log. */
type Ended = readonly [logged: string | null, status: string | null]

/** What the last look has seen. */
interface LastLook {
  /** The position of the log that contains all that the snapshot sees; null: it is not known. */
  readonly position: LogPosition | null
  readonly snapshot: string
  readonly server: string
}

/** No snapshot of any server. */
const nothing: LastLook = { snapshot: '1:1:', server: '', position: null }

/** Looks at the log of commits. @throws where it cannot be read */
export const tryReadingLog = async (ask: AskServer, hasReplicas: boolean): Promise<void> =>
  void (await ask(lookAt(hasReplicas), [nothing.snapshot, nothing.server]))

/**
 * Watches the commits. While the log cannot be used, it is known whether anything was committed, but not what.
 * `hasReplicas`: the position of the server's log is asked for too.
 */
export function watchCommits(ask: AskServer, log: CommitLogAccess, hasReplicas: boolean): PostgresCommits {
  const [look, withoutLog] = [lookAt(hasReplicas), lookWithoutLog(hasReplicas)]
  const dependents = openDependents(ask)
  const changes = openTableChanges(dependents.known)
  let seen = nothing
  /** When the last look began that has succeeded (`elapsed`). */
  let known = Number.NEGATIVE_INFINITY
  /** Whether it has read the log. */
  let isLogged = false
  let told = -1

  function forget(): void {
    dependents.forget()
    changes.noteAll()
  }

  async function lookOnce(): Promise<void> {
    const began = elapsed()
    const withLog = log.isUsed()
    try {
      const [row] = await (withLog ? ask(look, [seen.snapshot, seen.server]) : ask(withoutLog, []))
      const { hasEpoch, ended, ...now } = readLook(row!, seen)
      const isUnchanged = now.snapshot === seen.snapshot && now.server === seen.server
      seen = now
      const isKept = hasEpoch || (await beginEpoch(ask))
      if (!isKept || !(isUnchanged || (ended !== null && noteEnded(changes, ended)))) forget()
      else if (withLog) await dependents.load()
      known = began
      isLogged = withLog
    } catch (error) {
      // Whatever happens while nobody can look counts as a change.
      seen = nothing
      forget()
      if (withLog && log.refused(error)) return lookOnce()
      throw error
    }
  }

  const asked = shared(lookOnce, apart)
  const isKnown = () => isLogged && dependents.isKnowable()
  return {
    watch: {
      changes,
      look: (since) => log.isUsed() && dependents.isKnowable() && ((isLogged && known > since) || asked().then(isKnown)),
    },
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

/** What a look has found. */
interface ReadLook extends LastLook {
  readonly hasEpoch: boolean
  /** The transactions that have ended since the look before; null: they are not known, or nothing has changed at all. */
  readonly ended: readonly Ended[] | null
}

function readLook(row: readonly unknown[], before: LastLook): ReadLook {
  const [snapshot, server, hasEpoch, written, text] = row as [string, string, number, string | null, string | null]
  const ended = text === null ? null : (JSON.parse(text) as readonly Ended[])
  const isUnchanged = snapshot === before.snapshot && server === before.server
  // What was written since, but not committed, need not have been replayed.
  const isCommitted = ended === null ? !isUnchanged : ended.some(([, status]) => status !== 'aborted')
  const position = isCommitted ? (written === null ? null : positionOf(written)) : before.position
  return { snapshot, server, position, hasEpoch: hasEpoch === 1, ended }
}

/** Notes what the transactions have changed. Returns false where that is not known of one of them. */
function noteEnded(changes: TableChanges, ended: readonly Ended[]): boolean {
  for (const [logged, status] of ended) {
    if (logged === null && status === 'aborted') continue
    const tables = logged === null ? null : (JSON.parse(logged) as readonly string[] | null)
    if (tables === null) return false
    if (tables.length > 0) changes.note(tables)
  }
  return true
}
