// The delivery state of a webhook, for its management.
import type { MainConnection } from '../../../database/database.js'
import { readCursors } from '../cursors.js'
import { readUnfinished } from '../delivery-rows.js'
import { readAttempts, type WebhookAttempt } from './attempts.js'
import { consumerOf } from './webhook.js'

/** The state of a webhook. */
export interface WebhookState {
  /** Events that wait for another attempt, and that were given up. */
  readonly waiting: number
  readonly failed: number
  readonly last: Pick<WebhookAttempt, 'status' | 'attemptedAt'> | null
  /** The receiver asked for no events before, in milliseconds since 1970; null: it did not, or that moment has passed. */
  readonly pausedUntil: number | null
}

/** Reads the state of a webhook. */
export async function webhookState(database: Pick<MainConnection, 'rows'>, id: number, now: number): Promise<WebhookState> {
  const [last = null] = await readAttempts(database, id, 1)
  const consumer = consumerOf(id)
  const { pausedUntil = 0 } = (await readCursors(database)).get(consumer) ?? {}
  return {
    waiting: (await readUnfinished(database, consumer, 'waiting')).length,
    failed: (await readUnfinished(database, consumer, 'failed')).length,
    last: last === null ? null : { status: last.status, attemptedAt: last.attemptedAt },
    pausedUntil: Number(pausedUntil) > now ? Number(pausedUntil) : null,
  }
}
