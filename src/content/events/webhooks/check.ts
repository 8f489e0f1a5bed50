// Checks webhooks that are created or changed, with the messages of Strapi's admin API.
import { validationError } from '../../../foundation/errors/errors.js'
import type { AddressRules } from './addresses.js'
import { isHeader } from './header.js'
import { type Webhook, webhookEvents } from './webhook.js'

/** The values of a webhook to store. */
export type WebhookInput = Pick<Webhook, 'name' | 'url' | 'headers' | 'events'>

/** Checks the values of a webhook. @throws ApiError 400 */
export function checkWebhook({ name, url, headers, events }: WebhookInput, rules: Pick<AddressRules, 'refusalOf'>): void {
  if (name.trim() === '') throw invalid('name', 'name is a required field', name)
  checkUrl(url, rules)
  for (const event of events) {
    if (!webhookEvents.some((known) => known === event)) throw validationError(`Webhook event ${event} is not supported`)
  }
  for (const [header, value] of Object.entries(headers)) {
    if (!isHeader(header, value)) throw invalid('headers', `headers must have valid names and values: ${JSON.stringify(header)}`, header)
  }
}

function checkUrl(url: string, { refusalOf }: Pick<AddressRules, 'refusalOf'>): void {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) throw invalid('url', 'url must be a valid URL', url)
  if (parsed.username !== '' || parsed.password !== '') throw validationError('url must not contain a user name or password; use a header')
  if (refusalOf(parsed.hostname) !== null)
    throw invalid('url', "Url is not supported because it isn't reachable over the public internet", url)
}

const invalid = (path: string, message: string, value: string) =>
  validationError(message, { errors: [{ path: [path], message, name: 'ValidationError', value }] })
