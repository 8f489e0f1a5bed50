// Opens the delivery of events to webhooks. Loaded only where there is a webhook.
import type { MainConnection, WriteDatabase } from '../../../database/database.js'
import type { Consumer } from '../consumer.js'
import { openAddressRules, type PrivateAddresses } from './addresses.js'
import { pruneAttempts } from './attempts.js'
import { type WebhookLimits, type WebhookParts, webhookConsumer } from './consumer.js'
import { openSender } from './send.js'
import type { Webhook } from './webhook.js'

/** The settings of webhooks. */
export interface WebhookSettings {
  /** Headers that every webhook gets. */
  readonly defaultHeaders: Readonly<Record<string, string>>
  readonly allowPrivateAddresses: PrivateAddresses
  /** False: this process leaves the delivery to others. */
  readonly deliver: boolean
}

export interface WebhookConsumersOptions extends Pick<WebhookParts, 'now' | 'givenUp' | 'attempted' | 'tracing'> {
  readonly database: Pick<MainConnection, 'rows'>
  readonly writer: Pick<WriteDatabase, 'run'>
  readonly settings: WebhookSettings
  readonly limits: WebhookLimits
  failed(error: unknown): void
}

/** Webhooks as consumers of events. */
export interface WebhookConsumers {
  /** `current`: the webhook as it is now. */
  consumerFor(current: () => Webhook): Consumer
  close(): void
}

/** After this many attempts the log is made shorter. */
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
    // Processes may end before this number of attempts.
    if (attempts++ % pruneEvery === 0) pruneAttempts(database, writer, limits.webhookLogEntries).catch(failed)
  }
  const parts = { database, writer, sender, defaultHeaders: settings.defaultHeaders, limits, now, attempted, givenUp, tracing }
  return { consumerFor: (current) => webhookConsumer(current, parts), close: sender.close }
}
