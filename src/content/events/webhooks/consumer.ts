// A webhook as a consumer: events about the same document or file are delivered in order, others concurrently.
import type { MainConnection, WriteDatabase } from '../../../database/database.js'
import type { WebhookResult } from '../../../foundation/runtime/metrics.js'
import type { TraceAttributes, Tracing } from '../../../foundation/runtime/tracing.js'
import type { Consumer, DeliveryOutcome } from '../consumer.js'
import type { RecordedEvent } from '../event-log.js'
import { insertAttempt } from './attempts.js'
import { messageId, requestOf } from './request.js'
import { outcomeOf, type RetryLimits } from './retry.js'
import { ensureSecrets, signingSecrets } from './secrets.js'
import type { WebhookRequest, WebhookResponse, WebhookSender } from './send.js'
import { consumerOf, type Webhook } from './webhook.js'

export interface WebhookLimits extends RetryLimits {
  readonly webhookTimeout: number
  readonly outboxEvents: number
}

export interface WebhookParts {
  readonly database: Pick<MainConnection, 'rows'>
  readonly writer: Pick<WriteDatabase, 'run'>
  readonly sender: WebhookSender
  readonly defaultHeaders: Readonly<Record<string, string>>
  readonly limits: WebhookLimits
  now(): number
  /** Called after each attempt, with its duration in seconds. */
  attempted(result: WebhookResult, seconds: number): void
  /** Starts a separate trace for each attempt; null if tracing is off. */
  readonly tracing: Tracing | null
  givenUp(
    webhook: Webhook,
    event: Pick<RecordedEvent, 'sequence'>,
    attempts: number,
    response: Pick<WebhookResponse, 'status' | 'error'>,
  ): void
}

/** Maximum number of concurrent requests to one webhook. */
const maxRequests = 5

/** Events of a webhook that wait for another attempt, or for an earlier event that does. */
export const maxWaitingEvents = 1_000

/** Milliseconds that an attempt may take in addition to the request. */
const besideRequest = 1_000

/** A webhook as a consumer. `current` returns its current configuration. */
export function webhookConsumer(current: () => Webhook, parts: WebhookParts): Consumer {
  const { limits, now } = parts
  const { id } = current()

  function settle(
    event: Pick<RecordedEvent, 'sequence' | 'event' | 'subject'>,
    attempt: number,
    response: WebhookResponse,
  ): DeliveryOutcome {
    const logStatement = insertAttempt(id, event, attempt, response, now())
    const outcome = outcomeOf(response, attempt, limits, now())
    parts.attempted(outcome.kind === 'given-up' ? 'given_up' : outcome.kind, response.duration / 1000)
    if (outcome.kind === 'given-up') parts.givenUp(current(), event, attempt, response)
    return { ...outcome, logStatement }
  }

  return {
    name: consumerOf(id),
    concurrency: maxRequests,
    mostWaiting: maxWaitingEvents,
    longestAttempt: limits.webhookTimeout + besideRequest,
    longestPause: 2 * limits.webhookMaxRetryDelay,
    wants: ({ event }) => current().events.includes(event),
    orderingKeyOf: ({ subject }) => subject,
    deliver: async (event, attempt, signal) => settle(event, attempt, await deliverTo(current(), event, parts, signal)),
    missed: (sequence, attempt) => {
      const error = 'The event was deleted from the outbox before it was delivered (limits.outboxEvents)'
      const response = { status: 0, error, retryAfter: null, duration: 0 }
      parts.givenUp(current(), { sequence }, attempt - 1, response)
      return { kind: 'given-up', logStatement: insertAttempt(id, { sequence, event: '', subject: '' }, attempt, response, now()) }
    },
  }
}

async function deliverTo(
  webhook: Webhook,
  { sequence, createdAt, event, payload }: Pick<RecordedEvent, 'sequence' | 'createdAt' | 'event' | 'payload'>,
  { database, writer, sender, defaultHeaders, now, tracing }: WebhookParts,
  signal: AbortSignal,
): Promise<WebhookResponse> {
  const secrets = signingSecrets(await ensureSecrets(database, writer, webhook.id), now())
  const message = { id: messageId({ sequence, createdAt }), event, body: payload, secrets, now: now() }
  const request = requestOf(webhook, defaultHeaders, message)
  if (typeof request === 'string') return { status: 0, error: request, retryAfter: null, duration: 0 }
  if (tracing === null) return sender.send(request, signal)
  return tracing.outgoing(
    'POST webhook',
    { 'http.request.method': 'POST', 'octavo.webhook.id': webhook.id, 'octavo.event': event },
    (added) => sender.send(withHeaders(request, added), signal),
    deliveryOf,
  )
}

/** Trace attributes of a response. */
const deliveryOf = ({ status }: WebhookResponse): { readonly attributes: TraceAttributes; readonly isFailed: boolean } => ({
  attributes: status === 0 ? { 'error.type': 'no response' } : { 'http.response.status_code': status },
  isFailed: status < 200 || status > 299,
})

/** Adds headers, replacing those with the same name. */
function withHeaders(request: WebhookRequest, added: WebhookRequest['headers']): WebhookRequest {
  const names = new Set(added.map(([name]) => name.toLowerCase()))
  return { ...request, headers: [...request.headers.filter(([name]) => !names.has(name.toLowerCase())), ...added] }
}
