// Counters of attempts in the database, for several processes that serve it together. Each attempt that counts is a small write;
// a process that serves alone keeps its counters in memory and pays nothing.
import { sql } from 'kysely'
import type { DirectDatabase, WriteDatabase } from '../database/database.js'
import type { Counted, Counters } from './limits.js'

interface Row {
  readonly count: number
  readonly ends_at: number
}

const none: Counted = { count: 0, endsAt: 0 }
const counted = (row: Row | undefined): Counted => (row === undefined ? none : { count: row.count, endsAt: row.ends_at })

/** At most `most` counters of each kind (the first word of the key) are kept; those that end first make room. */
export function openSharedCounters(database: DirectDatabase, writer: WriteDatabase, most: number, now: () => number = Date.now): Counters {
  return {
    add: (key, amount, milliseconds) =>
      writer.transaction(async (transaction) => {
        const at = now()
        // Many counters of one kind must not push out those of another.
        const kind = key.slice(0, key.indexOf(' ') + 1)
        await transaction.run(sql`delete from octavo_counters where ends_at <= ${at}`)
        const [row] = await transaction.rows<Row>(sql`insert into octavo_counters (key, count, ends_at)
          values (${key}, ${Math.max(0, amount)}, ${at + milliseconds})
          on conflict (key) do update set count = max(0, count + ${amount}) returning count, ends_at`)
        await transaction.run(sql`delete from octavo_counters where key in (select key from octavo_counters
          where key <> ${key} and key >= ${kind} and key < ${`${kind}~`} order by ends_at desc limit -1 offset ${most - 1})`)
        return counted(row)
      }),
    read: async (key) => {
      const [row] = await database.rows<Row>(sql`select count, ends_at from octavo_counters where key = ${key} and ends_at > ${now()}`)
      return counted(row)
    },
    clear: (key) => writer.run(sql`delete from octavo_counters where key = ${key}`),
  }
}
