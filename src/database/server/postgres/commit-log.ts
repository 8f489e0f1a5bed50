// The commit log: the last statement of each writing transaction records its changed tables. Services read the log to invalidate their
// caches.
import type pg from 'pg'
import type { Logger } from 'pino'
import { ApiError } from '../../../foundation/errors/errors.js'
import { elapsed } from '../../../foundation/runtime/clock.js'
import { shared } from '../../../foundation/runtime/coalesce.js'
import { type CommitWatch, createTableChanges, type DependentTables, type TableChanges, toDependents } from '../../cache/table-changes.js'
import type { MainConnection } from '../../database.js'
import { commitTable, createCommitTables, epochTable } from './create-tables.js'
import { getCode, isMissingRelation, isMissingRight } from './errors.js'
import { type AskServer, execute, executePrepared, onConnection, type Statements } from './pool.js'
import type { StatementPipeline } from './statement-pipeline.js'

/** The id of the current transaction, as a number. */
const ownId = 'cast(cast(pg_current_xact_id() as text) as bigint)'

/** On conflict: a database restored from a dump may have rows of another server with the same ids. */
const insert = `insert into ${commitTable} (id, tables) values (${ownId}, $1) on conflict (id) do update set tables = excluded.tables`

/** Pipelines a statement that logs the transaction's changed tables (null: unknown), if the log is available. If it fails, so does the commit. */
export function logCommit(pipeline: StatementPipeline, access: CommitLogAccess, tables: ReadonlySet<string> | null): void {
  if (!access.isUsed()) return
  const values = [tables === null ? null : JSON.stringify([...tables])]
  pipeline.perform(insert, (statement) => executePrepared(pipeline.client, statement, values)).catch(() => {})
}

/** Transactions retained in the log. A service that has not polled for longer assumes that everything has changed. */
const maxTransactions = 20_000
/** Commits of one service between cleanups. */
const cleanupInterval = 100
/** Timeout of a cleanup in milliseconds; the next one continues. */
const cleanupTimeoutMs = 1_000

/** Records that the cleanup itself has changed no table. */
const logRemoval = `insert into ${commitTable} (id, tables) select ${ownId}, '[]' from (select count(*) from old) counted
  on conflict (id) do update set tables = excluded.tables`

/** Deletes expired rows from `$1` on, skipping those locked by another service's cleanup. */
const removeOld = `with old as (delete from ${commitTable} where id in (select id from ${commitTable}
    where id >= $1 and id < ${ownId} - ${maxTransactions} order by id for update skip locked) returning 1) ${logRemoval}`

/** Deletes rows of another server: ids that this one has not assigned yet. */
const removeForeign = `with old as (delete from ${commitTable}
  where id >= cast(cast(pg_snapshot_xmax(pg_current_snapshot()) as text) as bigint) returning 1) ${logRemoval}`

const newest = `select cast(coalesce(max(id), 0) as text) from ${commitTable}`

/** Executes a statement that requires every grant on the log. @throws if the log is unavailable */
export const tryWritingLog = async (ask: AskServer): Promise<void> => void (await ask(removeForeign, []))

/** Limits the size of the log. Returns a function to call after each commit. */
export function createLogCleanup(small: pg.Pool, statements: Statements, access: CommitLogAccess): () => void {
  let commits = 0
  let isCleaning = false
  /** Start of the retained rows: lets the index scan skip dead entries at its beginning. */
  let from = '0'

  async function cleanUpOnce(client: pg.PoolClient): Promise<void> {
    await execute(statements, client, removeForeign, [])
    const { rows } = await execute(statements, client, newest, [])
    await execute(statements, client, removeOld, [from])
    from = String(Math.max(0, Number(rows[0]![0]) - maxTransactions))
  }

  return () => {
    if (++commits % cleanupInterval !== 0 || isCleaning || !access.isUsed()) return
    isCleaning = true
    // On failure, the next cleanup continues.
    onConnection(small, cleanUpOnce, cleanupTimeoutMs)
      .catch((error: unknown) => void access.refused(error))
      .finally(() => {
        isCleaning = false
      })
  }
}

/** Tracks whether the log is available. */
export interface CommitLogAccess {
  /** Whether the log is used. If not, a call may start another attempt. */
  isUsed(): boolean
  /** Whether an error means that the log is unavailable, which stops its use. */
  refused(error: unknown): boolean
}

interface CommitLogAccessOptions {
  /** Writes and reads the log. @throws on any failure */
  readonly tryLog: () => Promise<void>
  /** Called with the server's error when the log becomes unavailable, and when it is available again. */
  lost(error: Error): void
  found(): void
}

/** Milliseconds between attempts to use the log again. */
const retryIntervalMs = 5_000

/** Permanent failures: a missing grant, relation or column, or a different relation (SQLSTATE class 42). */
const isRefusal = (error: unknown): boolean => getCode(error).startsWith('42')

/** The server's error if it rejected a statement on the log; null: another error. */
function toRefusal(error: unknown): Error | null {
  const cause = error instanceof ApiError ? error.cause : error
  const { statement = '' } = (cause ?? {}) as { readonly statement?: string }
  return isRefusal(cause) && statement.includes(commitTable) ? (cause as Error) : null
}

/** The log is initially assumed to be available. */
export function createCommitLogAccess({ tryLog, lost, found }: CommitLogAccessOptions): CommitLogAccess {
  let isUsed = true
  let tryAt = 0

  async function tryAgain(): Promise<void> {
    tryAt = Number.POSITIVE_INFINITY
    try {
      await tryLog()
      isUsed = true
      found()
    } catch {
      tryAt = elapsed() + retryIntervalMs
    }
  }

  return {
    isUsed: () => {
      if (!isUsed && elapsed() >= tryAt) void tryAgain()
      return isUsed
    },
    refused: (error) => {
      const refusal = toRefusal(error)
      if (refusal === null) return false
      if (isUsed) {
        isUsed = false
        tryAt = elapsed() + retryIntervalMs
        lost(refusal)
      }
      return true
    },
  }
}

const consequence = 'nothing is cached, and every read is executed by the database'

/** Remedy for an unavailable log. */
function adviceFor(error: Error, schema: string): string {
  if (isMissingRight(error))
    return `the database user may not use the log of commits: ${consequence}. Run as the owner of its tables: GRANT SELECT, INSERT, UPDATE, DELETE ON "${schema}".${commitTable}, "${schema}".${epochTable} TO …`
  if (isMissingRelation(error))
    return `a table of the log of commits is missing: ${consequence}. The next start of the service creates it; or run in the schema "${schema}": ${createCommitTables.join('; ')}`
  return `the log of commits cannot be used: ${consequence}. Look at the table ${commitTable} in the schema "${schema}"; the next start of the service creates it where it is missing`
}

/** Logs a warning, with a remedy, when the commit log becomes unavailable, and a message when it recovers. */
export const loggingAccess = (schema: string, logger: Pick<Logger, 'warn' | 'info'>): Pick<CommitLogAccessOptions, 'lost' | 'found'> => ({
  lost: (error) => logger.warn({ reason: error.message }, adviceFor(error, schema)),
  found: () => logger.info('the log of commits can be used again: responses are cached again'),
})

interface PostgresCommits {
  readonly watch: CommitWatch
  readonly changed: MainConnection['changed']
  readonly positionAfter: PositionAfter
}

/** Minimum milliseconds between the starts of two polls. */
const minPollIntervalMs = 1

/** Maximum transactions examined per poll; beyond that, everything counts as changed. */
const maxEnded = 10_000

/**
 * A poll: the snapshot, the server, its WAL position, and the transactions that ended since the snapshot `$1` of the server `$2`, with
 * their tables, or their status if not logged. A row counts only if written by the transaction it names: others come from another server's
 * dump. A crash forgets transactions and empties the unlogged epoch table.
 */
const pollStatement = (hasReplicas: boolean): string => `with now as materialized (
    select pg_current_snapshot() as seen, cast(cast($1 as text) as pg_snapshot) as before,
      concat_ws(' ', pg_postmaster_start_time(), (select epoch from ${epochTable} where id = 1)) as server,
      exists (select from ${epochTable} where id = 1) as has_epoch
  )
  select cast(seen as text), server, cast(has_epoch as int), ${hasReplicas ? endOfLog : 'null'}, cast(case
    when server <> cast($2 as text) or cast(seen as text) = cast($1 as text) then null
    when ${idAsNumber('pg_snapshot_xmax(seen)')} - ${idAsNumber('pg_snapshot_xmax(before)')} > ${maxEnded} then null
    else (
      select coalesce(json_agg(json_build_array(logged, case when logged is null then pg_xact_status(id) end)), '[]') from (select id, (
        select coalesce(log.tables, 'null') from ${commitTable} log
        where log.id = ${idAsNumber('ended.id')} and cast(cast(log.xmin as text) as bigint) = log.id % 4294967296
      ) as logged from (
        select pg_snapshot_xip(before) as id
        union all
        select cast(cast(number as text) as xid8)
        from generate_series(${idAsNumber('pg_snapshot_xmax(before)')}, ${idAsNumber('pg_snapshot_xmax(seen)')} - 1) as number
      ) ended where pg_visible_in_snapshot(id, seen)) known
    )
  end as text) from now`

/** A poll without tables: the snapshot, the server and its WAL position. A crash shows as a new checkpoint. Changed tables are unknown. */
const pollStatementWithoutLog = (hasReplicas: boolean): string => `select cast(pg_current_snapshot() as text),
  concat_ws(' ', pg_postmaster_start_time(), (select checkpoint_lsn from pg_control_checkpoint())), 1, ${hasReplicas ? endOfLog : 'null'}, null`

function idAsNumber(text: string): string {
  return `cast(cast(${text} as text) as bigint)`
}

const newEpoch = `insert into ${epochTable} (id, epoch) values (1, cast(gen_random_uuid() as text)) on conflict do nothing`

/** Begins an epoch, without which a crash would go unnoticed. Resolves to false if that fails. */
const beginEpoch = (ask: AskServer): Promise<boolean> =>
  ask(newEpoch, []).then(
    () => true,
    () => false,
  )

/** An ended transaction: its logged tables as JSON, or null if unknown; the status if it is not in the log. */
type Ended = readonly [logged: string | null, status: string | null]

interface LastPoll {
  /** A WAL position that covers everything visible to the snapshot; null: unknown. */
  readonly position: LogPosition | null
  readonly snapshot: string
  readonly server: string
}

/** Matches no server. */
const nothing: LastPoll = { snapshot: '1:1:', server: '', position: null }

/** Polls the log. @throws if it cannot be read */
export const tryReadingLog = async (ask: AskServer, hasReplicas: boolean): Promise<void> =>
  void (await ask(pollStatement(hasReplicas), [nothing.snapshot, nothing.server]))

/** Watches commits. Without the log it is known that something was committed, but not what. `hasReplicas`: also poll the WAL position. */
export function watchCommits(ask: AskServer, log: CommitLogAccess, hasReplicas: boolean): PostgresCommits {
  const look = pollStatement(hasReplicas)
  const withoutLog = pollStatementWithoutLog(hasReplicas)
  const dependents = createDependents(ask)
  const changes = createTableChanges(dependents.known)
  let seen = nothing
  /** Start time of the last successful poll (`elapsed`). */
  let known = Number.NEGATIVE_INFINITY
  let isLogged = false
  let reported = -1

  function forget(): void {
    dependents.forget()
    changes.noteAll()
  }

  async function pollOnce(): Promise<void> {
    const began = elapsed()
    const withLog = log.isUsed()
    try {
      const [row] = await (withLog ? ask(look, [seen.snapshot, seen.server]) : ask(withoutLog, []))
      const { hasEpoch, ended, ...now } = parsePoll(row!, seen)
      const isUnchanged = now.snapshot === seen.snapshot && now.server === seen.server
      seen = now
      const isEpochSet = hasEpoch || (await beginEpoch(ask))
      if (!isEpochSet || !(isUnchanged || (ended !== null && noteEnded(changes, ended)))) forget()
      else if (withLog) await dependents.load()
      known = began
      isLogged = withLog
    } catch (error) {
      // Changes during an outage are unknown, so assume that there were some.
      seen = nothing
      forget()
      if (withLog && log.refused(error)) return pollOnce()
      throw error
    }
  }

  const poll = shared(pollOnce, minPollIntervalMs)
  const isKnown = () => isLogged && dependents.isKnowable()
  return {
    watch: {
      changes,
      look: (since) => log.isUsed() && dependents.isKnowable() && ((isLogged && known > since) || poll().then(isKnown)),
    },
    positionAfter: async (since) => {
      if (known <= since) await poll()
      return seen.position
    },
    changed: async () => {
      await poll()
      const now = changes.now()
      if (now === reported) return false
      reported = now
      return true
    },
  }
}

interface PollResult extends LastPoll {
  readonly hasEpoch: boolean
  /** Transactions that ended since the last poll; null: unknown, or nothing has changed. */
  readonly ended: readonly Ended[] | null
}

function parsePoll(row: readonly unknown[], before: LastPoll): PollResult {
  const [snapshot, server, hasEpoch, written, text] = row as [string, string, number, string | null, string | null]
  const ended = text === null ? null : (JSON.parse(text) as readonly Ended[])
  const isUnchanged = snapshot === before.snapshot && server === before.server
  // Later WAL entries belong to uncommitted transactions and need not have been replayed.
  const isCommitted = ended === null ? !isUnchanged : ended.some(([, status]) => status !== 'aborted')
  const position = isCommitted ? (written === null ? null : parsePosition(written)) : before.position
  return { snapshot, server, position, hasEpoch: hasEpoch === 1, ended }
}

/** Records the tables that the transactions changed. Returns false if those of one are unknown. */
function noteEnded(changes: TableChanges, ended: readonly Ended[]): boolean {
  for (const [logged, status] of ended) {
    if (logged === null && status === 'aborted') continue
    const tables = logged === null ? null : (JSON.parse(logged) as readonly string[] | null)
    if (tables === null) return false
    if (tables.length > 0) changes.note(tables)
  }
  return true
}

/** Table dependencies from the catalog, reloaded after commits of unknown extent. */
interface Dependents {
  /** For `createTableChanges`. */
  known(): DependentTables
  /** False if there are foreign tables, whose commits are not visible here. */
  isKnowable(): boolean
  /** Reads the catalog unless loaded since `forget`. */
  load(): Promise<void>
  forget(): void
}

/** Schemas in the search path, which excludes temporary tables of other sessions. */
const isOurs = 'n.nspname = any (current_schemas(false))'
/** Tables with foreign keys. */
const isReferring = "exists (select from pg_constraint c where c.conrelid = r.oid and c.contype = 'f')"
const ofExtension = (catalog: string, oid: string): string =>
  `exists (select from pg_depend d where d.classid = '${catalog}'::regclass and d.objid = ${oid} and d.deptype = 'e')`

/** Foreign keys as pairs of tables; whether there are triggers, rules or views, with unknown effects; or foreign tables. */
const catalog = `select
  (select cast(coalesce(json_agg(distinct jsonb_build_array(above.relname, below.relname)), '[]') as text)
    from pg_constraint c join pg_class above on above.oid = c.confrelid join pg_class below on below.oid = c.conrelid where c.contype = 'f'),
  (exists (select from pg_trigger t join pg_class r on r.oid = t.tgrelid join pg_namespace n on n.oid = r.relnamespace
      where not t.tgisinternal and (${isOurs} or ${isReferring}) and not ${ofExtension('pg_class', 'r.oid')})
    or exists (select from pg_rewrite w join pg_class r on r.oid = w.ev_class join pg_namespace n on n.oid = r.relnamespace
      where (${isOurs} or (r.relkind <> 'v' and ${isReferring})) and not ${ofExtension('pg_class', 'r.oid')}))::int,
  (exists (select from pg_class r join pg_namespace n on n.oid = r.relnamespace where r.relkind = 'f' and ${isOurs}))::int`

export function createDependents(ask: AskServer): Dependents {
  let isLoaded = false
  let known: DependentTables = null
  let isKnowable = false
  return {
    known: () => known,
    isKnowable: () => isKnowable,
    load: async () => {
      if (isLoaded) return
      const [row] = await ask(catalog, [])
      const [keys, isChangedElsewhere, hasForeignTables] = row as [string, number, number]
      known = isChangedElsewhere === 1 ? null : toDependents(JSON.parse(keys))
      isKnowable = hasForeignTables === 0
      isLoaded = true
    },
    forget: () => {
      isLoaded = false
      known = null
    },
  }
}

/** A position in a write-ahead log. */
export interface LogPosition {
  /** The cluster, database and timeline. */
  readonly history: string
  readonly at: bigint
}

const cluster = `(select system_identifier from pg_control_system()), current_database()`

/** A primary's WAL insert position, as text; null on a standby. */
const endOfLog = `case when not pg_is_in_recovery() then concat_ws('/', ${cluster},
  cast(('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)) as text)) || ' ' || cast(pg_current_wal_insert_lsn() as text) end`

/** The WAL position replayed by a standby, as text; null: none. */
export const replayedLog = `concat_ws('/', ${cluster}, 'x' || upper(lpad(to_hex(greatest(
    (select timeline_id from pg_control_checkpoint()), (select min_recovery_end_timeline from pg_control_recovery()))), 8, '0')))
  || ' ' || cast(pg_last_wal_replay_lsn() as text)`

/** Parses a position, whose text ends with two hexadecimal numbers such as `16/B374D848`. */
export function parsePosition(text: string): LogPosition {
  const space = text.lastIndexOf(' ')
  const [high, low] = text.slice(space + 1).split('/')
  return { history: text.slice(0, space), at: (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`) }
}

export const includesPosition = (log: LogPosition, position: LogPosition): boolean =>
  log.history === position.history && log.at >= position.at

/** A WAL position that covers everything visible on the primary after `since`; null: unknown. */
export type PositionAfter = (since: number) => Promise<LogPosition | null>
