// Strapi's test event, which is sent at once and is part of no log.
import { validationError } from '../../../foundation/errors/errors.js'
import { openAddressRules, type PrivateAddresses } from './addresses.js'
import { requestOf } from './request.js'
import type { ResolveLimits } from './resolve.js'
import { openSender, type SenderLimits, type WebhookResponse } from './send.js'
import type { Webhook } from './webhook.js'

/** The part of the webhook configuration needed for sending. */
export interface SendingConfig {
  readonly webhooks: { readonly defaultHeaders: Readonly<Record<string, string>>; readonly allowPrivateAddresses: PrivateAddresses }
  readonly limits: SenderLimits & ResolveLimits
}

/** Sends the test event to a webhook, signed with these secrets. @throws ApiError 400 if a header cannot be sent */
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
