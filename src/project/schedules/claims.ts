// Which times of schedules this process runs: it claims a time with the lease of the schedule, whose row has the last time that was run.
import { sql } from 'kysely'
import type { Leases, WorkLease } from '../../content/leases/leases.js'
import { inBookkeeping, type MainConnection, type WriteDatabase } from '../../database/database.js'
import type { Dialect } from '../../database/dialect.js'
import { insertMissing } from '../../database/portable-sql.js'
import { type DatabaseClock, openDatabaseClock } from './database-clock.js'

/** A time of a schedule that this process runs. */
export interface ClaimedTime {
  /** Milliseconds since 1970. */
  readonly time: number
  readonly lease: WorkLease
  /** Aborted when another process has taken over, or may do so because no sign of life could be stored. */
  readonly doubted: AbortSignal
  /** Leaves the time to other processes and to the next start, because it is not run here. */
  giveBack(): Promise<void>
}

/**
 * What a claim led to. `done`: another process took this time or a later one. `busy`: a former run still goes on. `early`: by the clock of
 * the database the time comes in so many milliseconds.
 */
export type ClaimOutcome =
  | { readonly kind: 'mine'; readonly claimed: ClaimedTime }
  | { readonly kind: 'done' | 'busy' }
  | { readonly kind: 'early'; readonly by: number }

/** The claims of this process. */
export interface ScheduleClaims {
  /** The clock by which times come. */
  readonly clock: DatabaseClock
  /** Adds schedules that were never there; for them, time begins now. Resolves to the last time of each. */
  register(names: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Claims a time of a schedule for this process. */
  claim(name: string, time: number): Promise<ClaimOutcome>
  /** Passes a time while this process runs the schedule for a former one. */
  pass(name: string, time: number, running: ClaimedTime): Promise<void>
}

const tableName = 'octavo_schedule_times'
const table = sql.table(tableName)

/** Where claims are stored. */
export interface ClaimDatabase {
  readonly database: MainConnection
  readonly writer: WriteDatabase
  readonly dialect: Pick<Dialect, 'timeOfDay'>
}

/** The statement that makes a time the last one, unless a later one is. */
const taking = (name: string, time: number) => sql`update ${table} set last_time = ${time} where name = ${name} and last_time < ${time}`

/** Makes `last` the last time again in place of one that was claimed, and releases the lease. */
async function giveBack(
  writer: WriteDatabase,
  lease: WorkLease,
  { name, time, last }: { readonly name: string; readonly time: number; readonly last: number },
): Promise<void> {
  try {
    await inBookkeeping(writer, async (transaction) => {
      if (!(await lease.confirm(transaction))) return
      transaction.follow(sql`update ${table} set last_time = ${last} where name = ${name} and last_time = ${time}`)
    })
  } finally {
    await lease.release()
  }
}

/** Opens the claims of a process. */
export function openClaims({ database, writer, dialect: { timeOfDay } }: ClaimDatabase, leases: Pick<Leases, 'acquire'>): ScheduleClaims {
  const clock = openDatabaseClock(async () => {
    const [row] = await database.rows<{ readonly moment: number }>(sql`select ${timeOfDay} as moment`)
    return Number(row!.moment)
  })
  const read = async (names: readonly string[]): Promise<ReadonlyMap<string, number>> => {
    const rows = await database.rows<{ readonly name: string; readonly last_time: number; readonly moment: number }>(
      sql`select name, last_time, ${timeOfDay} as moment from ${table} where name in (${sql.join(names)})`,
    )
    if (rows.length > 0) clock.set(Number(rows.at(-1)!.moment))
    return new Map(rows.map(({ name, last_time }) => [name, Number(last_time)]))
  }

  return {
    clock,
    register: async (names) => {
      const known = await read(names)
      const missing = names.filter((name) => !known.has(name))
      if (missing.length === 0) return known
      await inBookkeeping(writer, async (transaction) => {
        for (const name of missing) transaction.follow(insertMissing(tableName, ['name', 'last_time'], sql`values (${name}, ${timeOfDay})`))
      })
      return read(names)
    },
    claim: async (name, time) => {
      const last = (await read([name])).get(name)
      if (last === undefined || last >= time) return { kind: 'done' }
      // No process is first because its clock is fast.
      const now = clock.now()
      if (now < time) return { kind: 'early', by: time - now }
      const doubt = new AbortController()
      let isDone = false
      const lease = await leases.acquire(`schedule ${name}`, {
        doubted: () => doubt.abort(),
        also: async (transaction) => {
          isDone = (await transaction.run(taking(name, time))).rows !== 1
          return !isDone
        },
      })
      if (lease === null) return { kind: isDone ? 'done' : 'busy' }
      const claimed = { time, lease, doubted: doubt.signal, giveBack: () => giveBack(writer, lease, { name, time, last }) }
      return { kind: 'mine', claimed }
    },
    pass: (name, time, { lease }) =>
      inBookkeeping(writer, async (transaction) => {
        if (await lease.confirm(transaction)) transaction.follow(taking(name, time))
      }),
  }
}
