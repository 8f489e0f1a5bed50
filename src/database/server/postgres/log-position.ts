// Positions in PostgreSQL's write-ahead log. They can be compared within one history: of one cluster, on one timeline. A standby that was promoted begins
// a new timeline, and others that had received more of the old one do not follow it.

/** A position in a log. */
export interface LogPosition {
  /** Which cluster, database and timeline it is of. */
  readonly history: string
  readonly at: bigint
}

const cluster = `(select system_identifier from pg_control_system()), current_database()`

/** The end of the log of a primary, as text; null on a standby. */
export const endOfLog = `case when not pg_is_in_recovery() then concat_ws('/', ${cluster},
  cast(('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)) as text)) || ' ' || cast(pg_current_wal_insert_lsn() as text) end`

/** What a standby has replayed, as text; null where it has replayed nothing. */
export const replayedLog = `concat_ws('/', ${cluster}, 'x' || upper(lpad(to_hex(greatest(
    (select timeline_id from pg_control_checkpoint()), (select min_recovery_end_timeline from pg_control_recovery()))), 8, '0')))
  || ' ' || cast(pg_last_wal_replay_lsn() as text)`

/** Reads the text of a position, which ends with two hexadecimal numbers such as `16/B374D848`. */
export function positionOf(text: string): LogPosition {
  const space = text.lastIndexOf(' ')
  const [high, low] = text.slice(space + 1).split('/')
  return { history: text.slice(0, space), at: (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`) }
}

/** Whether a log contains everything up to a position. */
export const reaches = (log: LogPosition, position: LogPosition): boolean => log.history === position.history && log.at >= position.at
