// Rate-limit counters in the database, for several processes that serve it together. Each counted attempt is a small write; a single
// process keeps its counters in memory instead.
import { sql } from 'kysely'
import { inBookkeeping } from '../database/bookkeeping.js'
import type { MainConnection, WriteDatabase } from '../database/database.js'
import { upsert } from '../database/fragments.js'
import type { Counted, Counters } from './rate-limit.js'

interface Row {
  readonly count: number
  readonly ends_at: number
}

/**
 * Milliseconds since the machine started: the same for all its processes, and not affected by changes of the system time. A counter that
 * would end much later than possible is from an earlier start of the machine and counts as expired.
 */
const machineClock = (): number => Number(process.hrtime.bigint() / 1_000_000n)

/** Milliseconds by which a counter may end later than possible: another process began it while an attempt waited for its transaction. */
const tolerance = 60_000

const name = sql.ref('key')

/** Opens counters in the database. Keeps at most `most` counters of each kind (the first word of the key); the first to end are deleted. */
export function openSharedCounters(
  database: MainConnection,
  writer: WriteDatabase,
  most: number,
  now: () => number = machineClock,
): Counters {
  const counted = (row: Row | undefined, at: number, longest: number): Counted =>
    row === undefined ? { count: 0, remaining: 0 } : { count: row.count, remaining: Math.min(row.ends_at - at, longest) }
  return {
    add: (key, amount, milliseconds, longest = milliseconds) =>
      inBookkeeping(writer, async (transaction) => {
        const at = now()
        // Many counters of one kind must not displace those of another.
        const kind = key.slice(0, key.indexOf(' ') + 1)
        await transaction.run(
          sql`delete from octavo_rate_limits where ends_at <= ${at} or (${name} = ${key} and ends_at > ${at + longest + tolerance})`,
        )
        const fresh = { key, count: Math.max(0, amount), ends_at: at + milliseconds }
        const sum = sql`octavo_rate_limits.count + ${amount}`
        await transaction.run(upsert('octavo_rate_limits', fresh, ['key'], sql`count = case when ${sum} > 0 then ${sum} else 0 end`))
        const [row] = await transaction.rows<Row>(sql`select count, ends_at from octavo_rate_limits where ${name} = ${key}`)
        const others = sql`${name} <> ${key} and ${name} >= ${kind} and ${name} < ${`${kind}~`}`
        const [surplus] = await transaction.rows<{ key: string; ends_at: number }>(
          sql`select ${name}, ends_at from octavo_rate_limits where ${others} order by ends_at desc, ${name} limit 1 offset ${most - 1}`,
        )
        if (surplus !== undefined)
          await transaction.run(sql`delete from octavo_rate_limits where ${others}
            and (ends_at < ${surplus.ends_at} or (ends_at = ${surplus.ends_at} and ${name} >= ${surplus.key}))`)
        return counted(row, at, longest)
      }),
    read: async (key, longest) => {
      const at = now()
      const [row] = await database.rows<Row>(
        sql`select count, ends_at from octavo_rate_limits where ${name} = ${key} and ends_at > ${at} and ends_at <= ${at + longest + tolerance}`,
      )
      return counted(row, at, longest)
    },
    clear: (key) => writer.run(sql`delete from octavo_rate_limits where ${name} = ${key}`),
  }
}
