// Rate-limit counters in the database, for several processes that serve it together. Each counted attempt is a small write; a single
// process keeps its counters in memory instead.
import { sql } from 'kysely'
import { inBookkeeping, type MainConnection, type WriteDatabase } from '../../database/database.js'
import type { Dialect } from '../../database/dialect.js'
import { upsert } from '../../database/portable-sql.js'
import type { Counted, Counters } from './rate-limit.js'

interface Row {
  readonly count: number
  readonly remaining: number
}

/**
 * Milliseconds by which a counter may end later than possible: another process began it while an attempt waited for its transaction. One
 * that would end even later was begun before the clock was set back, or the machine of the clock was started again: it counts as expired.
 */
const tolerance = 60_000

const name = sql.ref('key')

/** Where counters are stored. */
export interface CounterDatabase {
  readonly database: MainConnection
  readonly writer: WriteDatabase
  readonly dialect: Pick<Dialect, 'sharedClock'>
}

/** Opens counters in the database. Keeps at most `most` counters of each kind (the first word of the key); the first to end are deleted. */
export function openSharedCounters({ database, writer, dialect }: CounterDatabase, most: number): Counters {
  const counted = (row: Row | undefined, longest: number): Counted =>
    row === undefined ? { count: 0, remaining: 0 } : { count: row.count, remaining: Math.min(Number(row.remaining), longest) }
  return {
    add: (key, amount, milliseconds, longest = milliseconds) =>
      inBookkeeping(writer, async (transaction) => {
        const now = dialect.sharedClock()
        // Many counters of one kind must not displace those of another.
        const kind = key.slice(0, key.indexOf(' ') + 1)
        await transaction.run(
          sql`delete from octavo_rate_limits where ends_at <= ${now} or (${name} = ${key} and ends_at > ${now} + ${longest + tolerance})`,
        )
        const fresh = { key, count: Math.max(0, amount), ends_at: sql`${now} + ${milliseconds}` }
        const sum = sql`octavo_rate_limits.count + ${amount}`
        await transaction.run(upsert('octavo_rate_limits', fresh, ['key'], sql`count = case when ${sum} > 0 then ${sum} else 0 end`))
        const [row] = await transaction.rows<Row>(
          sql`select count, ends_at - ${now} as remaining from octavo_rate_limits where ${name} = ${key}`,
        )
        const others = sql`${name} <> ${key} and ${name} >= ${kind} and ${name} < ${`${kind}~`}`
        const [surplus] = await transaction.rows<{ key: string; ends_at: number }>(
          sql`select ${name}, ends_at from octavo_rate_limits where ${others} order by ends_at desc, ${name} limit 1 offset ${most - 1}`,
        )
        if (surplus !== undefined)
          await transaction.run(sql`delete from octavo_rate_limits where ${others}
            and (ends_at < ${surplus.ends_at} or (ends_at = ${surplus.ends_at} and ${name} >= ${surplus.key}))`)
        return counted(row, longest)
      }),
    read: async (key, longest) => {
      const now = dialect.sharedClock()
      const [row] = await database.rows<Row>(sql`select count, ends_at - ${now} as remaining from octavo_rate_limits
        where ${name} = ${key} and ends_at > ${now} and ends_at <= ${now} + ${longest + tolerance}`)
      return counted(row, longest)
    },
    clear: (key) => writer.run(sql`delete from octavo_rate_limits where ${name} = ${key}`),
  }
}
