// The stored cursor of each consumer, so that delivery continues after a crash, with the pause that its receiver asks for, and its backlog.
// Only the process with the lease of a consumer delivers to it and moves its cursor.
import { sql } from 'kysely'
import type { MainConnection, Transaction, WriteDatabase } from '../../database/database.js'
import { insertMissing } from '../../database/portable-sql.js'
import { deleteLease, type Leases } from '../leases.js'

/** The cursors of all consumers. */
export interface Cursors {
  /** Gives new consumers the cursor `last`, because they do not get past events. */
  register(names: readonly string[], last: number): Promise<void>
  /** The existing cursors of these consumers. */
  read(names: readonly string[]): Promise<ReadonlyMap<string, Cursor>>
  /**
   * Acquires the lease of a consumer, whose attempts take at most `longestAttempt` milliseconds; null while another process has it, or if
   * the consumer has no cursor.
   */
  acquire(name: string, longestAttempt: number): Promise<ConsumerLease | null>
}

/** The position of a consumer. */
export interface Cursor {
  /** Every event up to it was delivered or given up, or has a row. */
  readonly sequence: number
  /** The receiver wants no events before that moment: milliseconds since 1970. */
  readonly pausedUntil: number
}

/** The right of this process to deliver to a consumer. */
export interface ConsumerLease {
  /** The cursor when the lease was acquired. */
  readonly cursor: Cursor
  /** False if the lease might expire before an attempt ends: none may start until it is true again. */
  isValid(): boolean
  /** True if another process has acquired the lease, or the consumer was removed. */
  isLost(): boolean
  /** Stores the cursor within a transaction, and the end of a new pause; false if the lease is lost. */
  advance(transaction: Transaction, sequence: number, pausedUntil: number | null): Promise<boolean>
  /** Lets other processes acquire the lease. */
  release(): Promise<void>
}

/** The name of the table of cursors. */
export const consumerTable = 'octavo_consumers'
const table = sql.table(consumerTable)
const columns = sql`name, sequence, paused_until as ${sql.id('pausedUntil')}`

type CursorRow = Cursor & { readonly name: string }

/** The name of a consumer's lease. */
const leaseOf = (name: string): string => `events ${name}`

/** The statement that gives a consumer a cursor unless it has one. */
export const registration = (name: string, sequence: number) =>
  insertMissing(consumerTable, ['name', 'sequence', 'paused_until'], sql`values (${name}, ${sequence}, 0)`)

/** The statements that remove a consumer, also from a process that delivers to it. They lock the lease first, as those that move the cursor do. */
export const removal = (name: string) => [deleteLease(leaseOf(name)), sql`delete from ${table} where name = ${name}`] as const

/** The statement that ends the pause of a consumer. */
export const endOfPause = (name: string) => sql`update ${table} set paused_until = 0 where name = ${name}`

/** The cursors of all consumers, by their names. */
export async function readCursors(database: Pick<MainConnection, 'rows'>): Promise<ReadonlyMap<string, Cursor>> {
  const rows = await database.rows<CursorRow>(sql`select ${columns} from ${table}`)
  return new Map(rows.map((row) => [row.name, row]))
}

/** Opens the cursors. */
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

/** The events that not all consumers have received. */
export interface EventBacklog {
  readonly pending: number
  /** When the oldest of them was recorded, in milliseconds since 1970; null: none waits. */
  readonly oldest: number | null
}

/** Reads how many events wait for one of these consumers. */
export async function readBacklog(database: Pick<MainConnection, 'rows'>, consumers: readonly string[]): Promise<EventBacklog> {
  const cursors = await readCursors(database)
  const sequences = consumers.flatMap((name) => cursors.get(name)?.sequence ?? [])
  if (sequences.length === 0) return { pending: 0, oldest: null }
  const passed = Math.min(...sequences.map(Number))
  // A cursor also passes events that wait for another attempt.
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
