// The number of recorded events pending for a listener or webhook, and the time of the oldest.
import { sql } from 'kysely'
import type { MainConnection } from '../../database/database.js'
import { readCursors } from './cursors.js'

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
