// Webhooks managed by administrators, with entries in the log of activity.

import { readUnfinished } from '../../content/events/delivery-queue.js'
import { type EventHead, openEventLog } from '../../content/events/event-log.js'
import { openAddressRules } from '../../content/events/webhooks/addresses.js'
import { readAttempts, type WebhookAttempt } from '../../content/events/webhooks/attempts.js'
import type { EventsToResend, WebhookState } from '../../content/events/webhooks/management.js'
import { eventsToResend, sendTestEvent, webhookState } from '../../content/events/webhooks/management.js'
import { checkWebhook } from '../../content/events/webhooks/request.js'
import { ensureSecrets, replaceSecret, rotateSecret, signingSecrets } from '../../content/events/webhooks/secrets.js'
import type { WebhookResponse } from '../../content/events/webhooks/send.js'
import { consumerOf, readWebhooks, type Webhook } from '../../content/events/webhooks/webhook.js'
import { createWebhook, deleteWebhook, resendEvents, updateWebhook } from '../../content/events/webhooks/write.js'
import type { RowReader } from '../../database/database.js'
import { ApiError, mistakenInput, notFound } from '../../foundation/errors/errors.js'
import { type ActingAdministrator, type AdministratorAction, doAction } from '../activity.js'
import type { Administration } from '../context.js'
import { nameTaken } from '../error-paths.js'

/** A webhook with the state of its deliveries. */
export interface ManagedWebhook extends Webhook {
  readonly state: WebhookState
}

/** The values of a webhook to write. */
interface WebhookValues {
  readonly name?: string | undefined
  readonly url?: string | undefined
  readonly events?: readonly string[] | undefined
  /** Values by name; null removes a header, and other headers stay. */
  readonly headers?: Readonly<Record<string, string | null>> | undefined
  readonly isEnabled?: boolean | undefined
}

const actionOn = (action: string, id: number, name: string, fields?: readonly string[]): AdministratorAction => ({
  action,
  subject: 'webhook',
  id: String(id),
  name,
  ...(fields === undefined ? {} : { fields }),
})

const withState = async (database: RowReader, webhook: Webhook, now: number): Promise<ManagedWebhook> => ({
  ...webhook,
  state: await webhookState(database, webhook.id, now),
})

/** Returns all webhooks in the order of their ids. */
export async function managedWebhooks({ database, now }: Administration): Promise<readonly ManagedWebhook[]> {
  const all: ManagedWebhook[] = []
  for (const webhook of await readWebhooks(database)) all.push(await withState(database, webhook, now()))
  return all
}

/** Returns a webhook. @throws ApiError 404 */
export async function managedWebhook({ database, now }: Pick<Administration, 'database' | 'now'>, id: number): Promise<ManagedWebhook> {
  return withState(database, await readExisting(database, id), now())
}

async function readExisting(database: RowReader, id: number): Promise<Webhook> {
  const found = (await readWebhooks(database)).find((webhook) => webhook.id === id)
  if (found === undefined) throw notFound('Webhook not found')
  return found
}

/** @throws ApiError 400 for invalid values, and for a name that is already used */
async function checkValues(
  { config }: Administration,
  database: RowReader,
  webhook: Omit<Webhook, 'id'>,
  id: number | null,
): Promise<void> {
  checkWebhook(webhook, openAddressRules(config.webhooks.allowPrivateAddresses, config.limits))
  const same = (await readWebhooks(database)).some((other) => other.name === webhook.name && other.id !== id)
  if (same) throw nameTaken('webhook')
}

/** Creates a webhook, and returns its id with its signing secret, which is shown once. @throws ApiError 400 */
export function createManagedWebhook(
  administration: Administration,
  actor: ActingAdministrator,
  { name, url, events, headers, isEnabled }: Required<WebhookValues> & { readonly name: string; readonly url: string },
): Promise<{ readonly id: number; readonly secret: string }> {
  return doAction(administration, actor, async (transaction, now) => {
    const webhook = { name, url, events: events ?? [], headers: mergeHeaders({}, headers ?? {}), isEnabled: isEnabled !== false }
    await checkValues(administration, transaction, webhook, null)
    const created = await createWebhook(transaction, webhook, webhook.isEnabled, now)
    return [{ ...actionOn('create', created.id, name), responseData: created.secret }, created]
  })
}

/** Merges headers, ignoring the case of names. */
function mergeHeaders(
  before: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | null>>,
): Readonly<Record<string, string>> {
  const changed = new Set(Object.keys(changes).map((name) => name.toLowerCase()))
  const kept = Object.entries(before).filter(([name]) => !changed.has(name.toLowerCase()))
  const set = Object.entries(changes).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
  return Object.fromEntries([...kept, ...set])
}

const parseOrigin = (url: string): string | null => (URL.canParse(url) ? new URL(url).origin : null)

/**
 * Stored header values are secret, so they are not sent to another origin.
 * @throws ApiError 400 if a header would be sent there that the change neither repeats nor removes
 */
function refuseHeadersElsewhere(before: Readonly<Record<string, string>>, changes: Readonly<Record<string, string | null>>): void {
  const given = new Set(Object.keys(changes).map((name) => name.toLowerCase()))
  const kept = Object.keys(before).filter((name) => !given.has(name.toLowerCase()))
  if (kept.length === 0) return
  const message = `The URL has another origin: give these headers again, or remove them with null: ${kept.join(', ')}`
  throw mistakenInput([{ path: ['headers'], message }])
}

/**
 * Changes a webhook. A URL of another origin replaces the signing secret immediately.
 * @throws ApiError 400, 404; 400 for a URL of another origin with headers that are not given again
 */
export const changeManagedWebhook = (
  administration: Administration,
  actor: ActingAdministrator,
  id: number,
  values: WebhookValues,
): Promise<void> =>
  doAction(administration, actor, async (transaction, now) => {
    const before = await readExisting(transaction, id)
    const { name = before.name, url = before.url, events = before.events, headers = {}, isEnabled = before.isEnabled } = values
    const isElsewhere = parseOrigin(url) !== parseOrigin(before.url)
    if (isElsewhere) refuseHeadersElsewhere(before.headers, headers)
    const after = { id, name, url, events, headers: mergeHeaders(before.headers, headers), isEnabled }
    // Unknown events may stay.
    await checkValues(administration, transaction, values.events === undefined ? { ...after, events: [] } : after, id)
    await updateWebhook(transaction, id, after)
    // One receiver must not be able to replay events to another.
    if (isElsewhere) await replaceSecret(transaction, id, now)
    const fields = Object.entries(values).flatMap(([field, value]) => (value === undefined ? [] : [field]))
    return [actionOn('update', id, before.name, fields), undefined]
  })

/** Deletes a webhook with its deliveries. @throws ApiError 404 */
export const deleteManagedWebhook = (administration: Administration, actor: ActingAdministrator, id: number): Promise<void> =>
  doAction(administration, actor, async (transaction) => {
    const { name } = await readExisting(transaction, id)
    await deleteWebhook(transaction, id)
    return [actionOn('delete', id, name), undefined]
  })

/** Replaces the signing secret of a webhook; the former one also stays in use for a day. @throws ApiError 404 */
export const rotateWebhookSecret = (administration: Administration, actor: ActingAdministrator, id: number): Promise<string> =>
  doAction(administration, actor, async (transaction, now) => {
    const { name } = await readExisting(transaction, id)
    const secret = await rotateSecret(transaction, id, now)
    return [{ ...actionOn('update', id, name, ['secret']), responseData: secret }, secret]
  })

/** Sends a test event immediately. @throws ApiError 404; 400 if a header cannot be sent */
export async function testWebhook({ config, database, writer, now }: Administration, id: number): Promise<WebhookResponse> {
  const webhook = await readExisting(database, id)
  const secrets = signingSecrets(await ensureSecrets(database, writer, id), now())
  return sendTestEvent(config, webhook, secrets, now())
}

/** Returns the attempts to deliver events to a webhook, the latest first. @throws ApiError 404 */
export async function webhookAttempts(
  { database }: Administration,
  id: number,
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<readonly WebhookAttempt[]> {
  await readExisting(database, id)
  return readAttempts(database, id, limit, before)
}

/** An event that waits or was given up. Its content is unknown once it has left the outbox. */
interface UnfinishedEvent extends Partial<Pick<EventHead, 'event' | 'subject'>> {
  readonly sequence: number
  readonly attempts: number
  /** Milliseconds since 1970; 0: not scheduled. */
  readonly dueAt: number
}

/** Returns the first events of a webhook that wait for another attempt or were given up. @throws ApiError 404 */
export async function unfinishedEvents(
  { database }: Administration,
  id: number,
  { state, limit }: { readonly state: 'waiting' | 'failed'; readonly limit: number },
): Promise<readonly UnfinishedEvent[]> {
  await readExisting(database, id)
  const log = openEventLog(database)
  const found: UnfinishedEvent[] = []
  for (const row of (await readUnfinished(database, consumerOf(id), state)).slice(0, limit)) {
    const event = await log.read(row.sequence)
    found.push(event === null ? row : { ...row, event: event.event, subject: event.subject })
  }
  return found
}

/** Delivers events again, and returns their number. @throws ApiError 404; 400 for a disabled webhook, and for too many events */
export async function resendManagedEvents(
  administration: Administration,
  actor: ActingAdministrator,
  id: number,
  which: EventsToResend,
): Promise<number> {
  const { database, config } = administration
  const webhook = await readExisting(database, id)
  if (!webhook.isEnabled) throw new ApiError('ApplicationError', 'The webhook is disabled')
  const free = config.limits.webhookQueue - (await readUnfinished(database, consumerOf(id), 'waiting')).length
  const heads = await eventsToResend(database, webhook, which, free)
  if (heads.length > free) throw new ApiError('ApplicationError', `More than ${free} events would wait (limits.webhookQueue)`)
  return doAction(administration, actor, async (transaction) => {
    resendEvents(transaction, id, heads)
    return [heads.length === 0 ? null : { ...actionOn('resend', id, webhook.name), responseData: heads.length }, heads.length]
  })
}
