// Management of webhooks: delivery state, resending events, test events.
import type { MainConnection } from '../../../database/database.js'
import { validationError } from '../../../foundation/errors/errors.js'
import { readCursors } from '../cursors.js'
import { readUnfinished } from '../delivery-queue.js'
import { type EventHead, type EventLog, openEventLog } from '../event-log.js'
import { openAddressRules, type PrivateAddresses, type ResolveLimits } from './addresses.js'
import { readAttempts, type WebhookAttempt } from './attempts.js'
import { requestOf } from './request.js'
import { openSender, type SenderLimits, type WebhookResponse } from './send.js'
import { consumerOf, type Webhook } from './webhook.js'

interface WebhookState {
  /** Numbers of events pending for a retry, and given up. */
  readonly waiting: number
  readonly failed: number
  readonly last: Pick<WebhookAttempt, 'status' | 'attemptedAt'> | null
  /** End of the pause that the receiver requested, in milliseconds since 1970; null if none is in effect. */
  readonly pausedUntil: number | null
}

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

/** Given-up events, events after a sequence that the webhook subscribes to, or these sequences. */
export type EventsToResend =
  | { readonly kind: 'failed' }
  | { readonly kind: 'after'; readonly sequence: number }
  | { readonly kind: 'sequences'; readonly sequences: readonly number[] }

const batchSize = 500

/** Finds the selected events, at most `most + 1`. @throws ApiError 400 for a sequence that is not in the outbox */
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

/** Events after a sequence that a webhook subscribes to. */
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

interface SendingConfig {
  readonly webhooks: { readonly defaultHeaders: Readonly<Record<string, string>>; readonly allowPrivateAddresses: PrivateAddresses }
  readonly limits: SenderLimits & ResolveLimits
}

/** Sends a test event signed with these secrets. @throws ApiError 400 for an invalid header */
export async function sendTestEvent(
  { webhooks, limits }: SendingConfig,
  webhook: Webhook,
  secrets: readonly string[],
  now: number,
): Promise<WebhookResponse> {
  const event = 'trigger-test'
  const body = JSON.stringify({ event, createdAt: new Date(now).toISOString() })
  const request = requestOf(webhook, webhooks.defaultHeaders, { id: `evt_test_${now.toString(36)}`, event, body, secrets, now })
  if (typeof request === 'string') throw validationError(`${request}.`)
  const sender = openSender(openAddressRules(webhooks.allowPrivateAddresses, limits), limits)
  try {
    return await sender.send(request)
  } finally {
    sender.close()
  }
}
