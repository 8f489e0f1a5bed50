// Sends events to a webhook again.
import type { MainConnection } from '../../../database/database.js'
import { validationError } from '../../../foundation/errors/errors.js'
import { readUnfinished } from '../delivery-rows.js'
import { type EventHead, type EventLog, openEventLog } from '../event-log.js'
import { consumerOf, type Webhook } from './webhook.js'

/** Those that were given up, those after a sequence that the webhook wants, or those with these sequences. */
export type EventsToResend =
  | { readonly kind: 'failed' }
  | { readonly kind: 'after'; readonly sequence: number }
  | { readonly kind: 'sequences'; readonly sequences: readonly number[] }

/** Events that are read at once. */
const batchSize = 500

/** Finds the events that are meant; at most one more than `most`. @throws ApiError 400 for a sequence that is not in the outbox */
export async function eventsToResend(
  database: Pick<MainConnection, 'rows'>,
  webhook: Webhook,
  which: EventsToResend,
  most: number,
): Promise<readonly EventHead[]> {
  const log = openEventLog(database)
  if (which.kind === 'after') return wantedAfter(log, webhook, which.sequence, most + 1)
  const wanted =
    which.kind === 'failed'
      ? (await readUnfinished(database, consumerOf(webhook.id), 'failed')).map((row) => row.sequence)
      : [...new Set(which.sequences)]
  const found: EventHead[] = []
  for (const number of wanted.slice(0, most + 1)) {
    const event = await log.read(number)
    if (event !== null) found.push(event)
    else if (which.kind === 'sequences')
      throw validationError(`Event ${number} is not in the outbox. It keeps the last ones (limits.outboxEvents).`)
  }
  return found
}

/** The events after a sequence that a webhook wants, at most `limit`. */
async function wantedAfter(log: EventLog, { events }: Webhook, after: number, limit: number): Promise<readonly EventHead[]> {
  const found: EventHead[] = []
  for (let from = after; found.length < limit; ) {
    const heads = await log.heads(from, batchSize)
    const last = heads.at(-1)
    if (last === undefined) break
    found.push(...heads.filter(({ event }) => events.includes(event)))
    from = last.sequence
  }
  return found.slice(0, limit)
}
