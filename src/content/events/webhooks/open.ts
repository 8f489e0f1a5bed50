// Opens the delivery of events to webhooks.
import type { MainConnection, WriteDatabase } from '../../../database/database.js'
import type { Consumer } from '../consumer.js'
import { openAddressRules, type PrivateAddresses } from './addresses.js'
import { pruneAttempts } from './attempts.js'
import { type WebhookLimits, type WebhookParts, webhookConsumer } from './consumer.js'
import { openSender } from './send.js'
import type { Webhook } from './webhook.js'

export interface WebhookSettings {
  /** Headers sent to every webhook. */
  readonly defaultHeaders: Readonly<Record<string, string>>
  readonly allowPrivateAddresses: PrivateAddresses
  /** False: other processes deliver. */
  readonly deliver: boolean
}

interface WebhookConsumersOptions extends Pick<WebhookParts, 'now' | 'givenUp' | 'attempted' | 'tracing'> {
  readonly database: Pick<MainConnection, 'rows'>
  readonly writer: Pick<WriteDatabase, 'run'>
  readonly settings: WebhookSettings
  readonly limits: WebhookLimits
  failed(error: unknown): void
}

export interface WebhookConsumers {
  /** `current` returns the current configuration of the webhook. */
  consumerFor(current: () => Webhook): Consumer
  close(): void
}

/** The log is pruned once per this many attempts. */
const pruneEvery = 64

export function openWebhookConsumers({
  database,
  writer,
  settings,
  limits,
  failed,
  now,
  givenUp,
  attempted: report,
  tracing,
}: WebhookConsumersOptions): WebhookConsumers {
  const sender = openSender(openAddressRules(settings.allowPrivateAddresses, limits), limits)
  let attempts = 0
  const attempted: WebhookConsumersOptions['attempted'] = (result, seconds) => {
    report(result, seconds)
    // Prunes on the first attempt too, because a process may end before it makes many.
    if (attempts++ % pruneEvery === 0) pruneAttempts(database, writer, limits.outboxEvents).catch(failed)
  }
  const parts = { database, writer, sender, defaultHeaders: settings.defaultHeaders, limits, now, attempted, givenUp, tracing }
  return { consumerFor: (current) => webhookConsumer(current, parts), close: sender.close }
}
