// The signed request of a webhook, and validation of URLs and headers.
import { createHmac } from 'node:crypto'
import { validateHeaderName, validateHeaderValue } from 'node:http'
import { inputError, validationError } from '../../../foundation/errors/errors.js'
import type { IssueCode } from '../../../foundation/errors/issues.js'
import type { RecordedEvent } from '../event-log.js'
import type { AddressRules } from './addresses.js'
import type { WebhookRequest } from './send.js'
import { type Webhook, webhookEvents } from './webhook.js'

interface Message {
  /** The same for all attempts of an event. */
  readonly id: string
  readonly event: string
  readonly body: string
  /** Signing secrets, as `whsec_…`. */
  readonly secrets: readonly string[]
  readonly now: number
}

/** Identifies an event for receivers. The sequence alone is not unique: a restored database reuses numbers. */
export const messageId = ({ sequence, createdAt }: Pick<RecordedEvent, 'sequence' | 'createdAt'>): string =>
  `evt_${sequence}_${createdAt.toString(36)}`

/** Headers of the connection, which a webhook cannot set. */
const reserved = new Set(['connection', 'content-length', 'expect', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'])

/**
 * Builds the request for a message. `defaults`: headers of all webhooks, which a webhook's own headers override.
 * @returns a description of the invalid value instead, without values of headers
 */
export function requestOf(
  { url, headers }: Pick<Webhook, 'url' | 'headers'>,
  defaults: Readonly<Record<string, string>>,
  { id, event, body, secrets, now }: Message,
): WebhookRequest | string {
  const bytes = Buffer.from(body)
  const timestamp = String(Math.floor(now / 1000))
  const all = new Map<string, readonly [string, string]>()
  const set = (name: string, value: string): void => void all.set(name.toLowerCase(), [name, value])
  const parsed = URL.canParse(url) ? new URL(url) : null
  set('host', parsed?.host ?? '')
  set('connection', 'keep-alive')
  for (const [name, value] of [...Object.entries(defaults), ...Object.entries(headers)]) {
    if (!isHeader(name, value)) return `The header ${JSON.stringify(name)} is not valid`
    if (!reserved.has(name.toLowerCase())) set(name, value)
  }
  set('X-Strapi-Event', event)
  set('Content-Type', 'application/json')
  set('webhook-id', id)
  set('webhook-timestamp', timestamp)
  set('webhook-signature', secrets.map((secret) => `v1,${signature(secret, `${id}.${timestamp}.${body}`)}`).join(' '))
  if (!all.has('accept')) set('accept', '*/*')
  if (!all.has('user-agent')) set('user-agent', 'octavo')
  set('content-length', String(bytes.length))
  return { url, headers: [...all.values()], body: bytes }
}

/** Signs a text as specified by Standard Webhooks. */
const signature = (secret: string, text: string): string =>
  createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
    .update(text)
    .digest('base64')

function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}

export type WebhookInput = Pick<Webhook, 'name' | 'url' | 'headers' | 'events'>

/** Validates a webhook. @throws ApiError 400 */
export function checkWebhook({ name, url, headers, events }: WebhookInput, rules: Pick<AddressRules, 'refusalOf'>): void {
  if (name.trim() === '') throw invalid('name', 'required', 'name is a required field', name)
  checkUrl(url, rules)
  for (const event of events) {
    if (!webhookEvents.some((known) => known === event)) throw inputError(`Webhook event ${event} is not supported`, ['events'], 'notFound')
  }
  for (const [header, value] of Object.entries(headers)) {
    if (!isHeader(header, value))
      throw invalid('headers', 'format', `headers must have valid names and values: ${JSON.stringify(header)}`, header)
  }
}

function checkUrl(url: string, { refusalOf }: Pick<AddressRules, 'refusalOf'>): void {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) throw invalid('url', 'format', 'url must be a valid URL', url)
  if (parsed.username !== '' || parsed.password !== '')
    throw inputError('url must not contain a user name or password; use a header', ['url'], 'format', { expected: 'url' })
  if (refusalOf(parsed.hostname) !== null)
    throw invalid('url', 'forbidden', "Url is not supported because it isn't reachable over the public internet", url)
}

const invalid = (path: string, code: IssueCode, message: string, value: string) =>
  validationError(message, { errors: [{ path: [path], message, name: 'ValidationError', value }] }).because([
    { path: [path], message, code },
  ])
