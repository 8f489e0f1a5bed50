// Stored state of each consumer: its cursor, so that delivery continues after a crash, and the pause that its receiver requested. Only the
// process with the lease of a consumer delivers to it and advances its cursor.
import { sql } from 'kysely'
import type { MainConnection, Transaction, WriteDatabase } from '../../database/database.js'
import { insertMissing } from '../../database/portable-sql.js'
import { deleteLease, type Leases } from '../leases.js'

export interface Cursors {
  /** Starts new consumers at `last`: they do not get past events. */
  register(names: readonly string[], last: number): Promise<void>
  read(names: readonly string[]): Promise<ReadonlyMap<string, Cursor>>
  /** Null if another process has the lease, or there is no cursor. `longestAttempt`: maximum milliseconds of an attempt. */
  acquire(name: string, longestAttempt: number): Promise<ConsumerLease | null>
}

/** The position of a consumer. */
interface Cursor {
  /** Every event up to it was delivered or given up, or has a row. */
  readonly sequence: number
  /** The receiver accepts no events before this time, in milliseconds since 1970. */
  readonly pausedUntil: number
}

/** Exclusive right to deliver to a consumer. */
export interface ConsumerLease {
  /** The cursor when the lease was acquired. */
  readonly cursor: Cursor
  /** False if the lease might expire before a new attempt ends; attempts may start only while it is true. */
  isValid(): boolean
  /** True once another process has acquired the lease, or the consumer was removed. */
  isLost(): boolean
  /** Stores the cursor and, unless null, the end of a pause in a transaction; false if the lease is lost. */
  advance(transaction: Transaction, sequence: number, pausedUntil: number | null): Promise<boolean>
  release(): Promise<void>
}

export const consumerTable = 'octavo_consumers'
const table = sql.table(consumerTable)
const columns = sql`name, sequence, paused_until as ${sql.id('pausedUntil')}`

type CursorRow = Cursor & { readonly name: string }

const leaseOf = (name: string): string => `events ${name}`

/** Statement that registers a consumer unless it has a cursor. */
export const registration = (name: string, sequence: number) =>
  insertMissing(consumerTable, ['name', 'sequence', 'paused_until'], sql`values (${name}, ${sequence}, 0)`)

/** Statements that remove a consumer, even while a process delivers to it. The lease is locked first, as in `advance`. */
export const removal = (name: string) => [deleteLease(leaseOf(name)), sql`delete from ${table} where name = ${name}`] as const

export const endOfPause = (name: string) => sql`update ${table} set paused_until = 0 where name = ${name}`

/** Reads the cursors of all consumers, by name. */
export async function readCursors(database: Pick<MainConnection, 'rows'>): Promise<ReadonlyMap<string, Cursor>> {
  const rows = await database.rows<CursorRow>(sql`select ${columns} from ${table}`)
  return new Map(rows.map((row) => [row.name, row]))
}

export function openCursors(
  database: Pick<MainConnection, 'rows'>,
  writer: Pick<WriteDatabase, 'transaction'>,
  leases: Pick<Leases, 'acquire'>,
): Cursors {
  const read = async (names: readonly string[]): Promise<ReadonlyMap<string, Cursor>> =>
    new Map([...(await readCursors(database))].filter(([name]) => names.includes(name)))
  return {
    register: async (names, last) => {
      const known = await read(names)
      const missing = names.filter((name) => !known.has(name))
      if (missing.length === 0) return
      await writer.transaction(async (transaction) => {
        for (const name of missing) transaction.follow(registration(name, last))
      })
    },
    read,
    acquire: async (name, longestAttempt) => {
      let cursor: Cursor | undefined
      const lease = await leases.acquire(leaseOf(name), {
        also: async (transaction) => {
          const [row] = await transaction.rows<CursorRow>(sql`select ${columns} from ${table} where name = ${name}`)
          cursor = row
          return row !== undefined
        },
      })
      if (lease === null || cursor === undefined) return null
      return {
        cursor,
        isValid: () => lease.isValid(longestAttempt),
        isLost: lease.isLost,
        advance: async (transaction, sequence, pausedUntil) => {
          if (!(await lease.confirm(transaction))) return false
          const pause = pausedUntil === null ? sql`` : sql`, paused_until = ${pausedUntil}`
          transaction.follow(sql`update ${table} set sequence = ${sequence}${pause} where name = ${name}`)
          return true
        },
        release: lease.release,
      }
    },
  }
}

/** Events that at least one consumer has not received. */
export interface EventBacklog {
  readonly pending: number
  /** When the oldest of them was recorded, in milliseconds since 1970; null if there are none. */
  readonly oldest: number | null
}

/** Counts the events pending for any of these consumers. */
export async function readBacklog(database: Pick<MainConnection, 'rows'>, consumers: readonly string[]): Promise<EventBacklog> {
  const cursors = await readCursors(database)
  const sequences = consumers.flatMap((name) => cursors.get(name)?.sequence ?? [])
  if (sequences.length === 0) return { pending: 0, oldest: null }
  const passed = Math.min(...sequences.map(Number))
  // Events pending for a retry are before the cursor.
  const [row] = await database.rows<{ readonly pending: number; readonly oldest: number | null }>(
    sql`select count(*) as pending, min(created_at) as oldest from (
      select created_at from octavo_outbox where sequence > ${passed}
      union all
      select created_at from octavo_outbox where sequence <= ${passed} and sequence in (
        select sequence from octavo_deliveries where state = 'waiting' and consumer in (${sql.join(consumers)}))
    ) as waiting`,
  )
  return { pending: Number(row?.pending ?? 0), oldest: row?.oldest == null ? null : Number(row.oldest) }
}
