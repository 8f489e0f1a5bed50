// Webhooks and their deliveries: operations of the administration. Values of headers and secrets are shown only once.
import * as z from 'zod'
import { readUnfinished, type UnfinishedDelivery } from '../../content/events/delivery-queue.js'
import { type EventHead, openEventLog } from '../../content/events/event-log.js'
import { openAddressRules } from '../../content/events/webhooks/addresses.js'
import { readAttempts } from '../../content/events/webhooks/attempts.js'
import { maxWaitingEvents } from '../../content/events/webhooks/consumer.js'
import { type EventsToResend, eventsToResend, sendTestEvent, webhookState } from '../../content/events/webhooks/management.js'
import { checkWebhook } from '../../content/events/webhooks/request.js'
import { ensureSecrets, replaceSecret, rotateSecret, signingSecrets } from '../../content/events/webhooks/secrets.js'
import { consumerOf, readWebhooks, type Webhook } from '../../content/events/webhooks/webhook.js'
import { createWebhook, deleteWebhook, resendEvents, updateWebhook } from '../../content/events/webhooks/write.js'
import type { RowReader } from '../../database/database.js'
import { ApiError, invalidAt, notFound } from '../../foundation/errors/errors.js'
import { nameTaken } from '../error-paths.js'
import { nameInput, pageInput, pageMeta, parseCursor, timestamp, toPage, toTimestamp, toTimestampOrNull } from '../values.js'
import { act, type Immutable, type OperationContext, operation } from './operation.js'

const shownWebhook = z.strictObject({
  id: z.int(),
  name: z.string(),
  url: z.string(),
  /** The names of headers. */
  headers: z.array(z.string()),
  events: z.array(z.string()),
  isEnabled: z.boolean(),
  /** Events that wait for another attempt, and that were given up. */
  waiting: z.int(),
  failed: z.int(),
  /** Status 0: there was no response. */
  last: z.strictObject({ status: z.int(), attemptedAt: timestamp }).nullable(),
  pausedUntil: timestamp.nullable(),
})
const webhookResponse = z.strictObject({ data: shownWebhook })

const shownAttempt = z.strictObject({
  id: z.int(),
  sequence: z.int(),
  event: z.string(),
  subject: z.string(),
  attempt: z.int(),
  /** 0: there was no response. */
  status: z.int(),
  error: z.string().nullable(),
  /** Milliseconds. */
  duration: z.number(),
  attemptedAt: timestamp,
})
const unfinished = z.strictObject({
  sequence: z.int(),
  event: z.string().nullable(),
  subject: z.string().nullable(),
  attempts: z.int(),
  /** Null: not scheduled, or after another event. */
  dueAt: timestamp.nullable(),
})

const right = (name: string) => ({ action: `admin::webhooks.${name}` })
const audited = (action: string) => ({ action, subject: 'webhook' })
const url = z.string().max(2_000)
const events = z.array(z.string().max(100)).max(100)
const headerName = z.string().min(1).max(200)
const headerValue = z.string().max(4_000)
const resend = z.union([
  z.strictObject({ failed: z.literal(true) }).transform(() => ({ kind: 'failed' as const })),
  z.strictObject({ after: z.int().min(0) }).transform(({ after }) => ({ kind: 'after' as const, sequence: after })),
  z
    .strictObject({ sequences: z.array(z.int().min(0)).min(1).max(1_000) })
    .transform(({ sequences }) => ({ kind: 'sequences' as const, sequences })),
])

/** A webhook as a response, without the values of its headers. */
async function toShown(
  { database, now }: Pick<OperationContext, 'database' | 'now'>,
  { id, name, url, headers, events, isEnabled }: Webhook,
): Promise<Immutable<z.input<typeof shownWebhook>>> {
  const { waiting, failed, last, pausedUntil } = await webhookState(database, id, now())
  return {
    id,
    name,
    url,
    headers: Object.keys(headers),
    events,
    isEnabled,
    waiting,
    failed,
    last: last === null ? null : { status: last.status, attemptedAt: toTimestamp(last.attemptedAt) },
    pausedUntil: toTimestampOrNull(pausedUntil),
  }
}

/** @throws ApiError 404 */
async function readWebhook(database: RowReader, id: number): Promise<Webhook> {
  const found = (await readWebhooks(database)).find((webhook) => webhook.id === id)
  if (found === undefined) throw notFound('Webhook not found')
  return found
}

const respondWebhook = async (context: OperationContext, id: number) => ({
  data: await toShown(context, await readWebhook(context.database, id)),
})

/** @throws ApiError 400 for invalid values, and for a name that is already used */
async function checkValues(
  { config }: OperationContext,
  database: RowReader,
  webhook: Omit<Webhook, 'id'>,
  id: number | null,
): Promise<void> {
  checkWebhook(webhook, openAddressRules(config.webhooks.allowPrivateAddresses, config.limits))
  const same = (await readWebhooks(database)).some((other) => other.name === webhook.name && other.id !== id)
  if (same) throw nameTaken('webhook')
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
  throw invalidAt(['headers'], message, 'required')
}

/** Sends the test event of a webhook. @throws ApiError 400 if a header cannot be sent */
export async function testWebhook(
  { config, database, writer }: Omit<OperationContext, 'actor' | 'isSuperAdmin' | 'now'>,
  webhook: Webhook,
  now: number,
) {
  const secrets = signingSecrets(await ensureSecrets(database, writer, webhook.id), now)
  return sendTestEvent(config, webhook, secrets, now)
}

/** An event that waits or was given up. Its content is unknown once it has left the outbox. */
export type UnfinishedEvent = UnfinishedDelivery & Partial<Pick<EventHead, 'event' | 'subject'>>

/** Returns the first events of a webhook that wait for another attempt or were given up. */
export async function unfinishedEvents(
  database: RowReader,
  id: number,
  state: 'waiting' | 'failed',
  limit: number,
): Promise<readonly UnfinishedEvent[]> {
  const log = openEventLog(database)
  const found: UnfinishedEvent[] = []
  for (const row of (await readUnfinished(database, consumerOf(id), state)).slice(0, limit)) {
    const event = await log.read(row.sequence)
    found.push(event === null ? row : { ...row, event: event.event, subject: event.subject })
  }
  return found
}

/** Finds the events to deliver again. @throws ApiError 400 for too many events */
async function findEvents({ database }: OperationContext, webhook: Webhook, which: EventsToResend): Promise<readonly EventHead[]> {
  const free = maxWaitingEvents - (await readUnfinished(database, consumerOf(webhook.id), 'waiting')).length
  const heads = await eventsToResend(database, webhook, which, free)
  if (heads.length > free) {
    const message = `More than ${free} events would wait. Send some of them first, by their sequence numbers`
    throw new ApiError('ApplicationError', message)
  }
  return heads
}

const managing = {
  list: operation({
    route: 'GET /webhooks',
    summary: 'List webhooks',
    rights: right('read'),
    output: z.strictObject({ data: z.array(shownWebhook) }),
    respond: async (context) => {
      const data = []
      for (const webhook of await readWebhooks(context.database)) data.push(await toShown(context, webhook))
      return { data }
    },
  }),
  create: operation({
    route: 'POST /webhooks',
    summary: 'Create a webhook; its signing secret is shown once',
    rights: right('create'),
    isSecret: true,
    input: z.strictObject({
      name: nameInput,
      url,
      events,
      headers: z.record(headerName, headerValue).default({}),
      isEnabled: z.boolean().default(true),
    }),
    output: z.strictObject({ data: shownWebhook, secret: z.string() }),
    audit: audited('create'),
    run: (context, given) =>
      act(context, async (transaction, now) => {
        const webhook = { ...given, headers: mergeHeaders({}, given.headers) }
        await checkValues(context, transaction, webhook, null)
        const { id, secret } = await createWebhook(transaction, webhook, webhook.isEnabled, now)
        return { id: String(id), name: given.name, responseData: secret }
      }),
    respond: async (context, _input, { id, responseData }) => ({
      ...(await respondWebhook(context, Number(id))),
      secret: String(responseData),
    }),
  }),
  read: operation({
    route: 'GET /webhooks/:id',
    summary: 'Read a webhook',
    rights: right('read'),
    output: webhookResponse,
    respond: (context, { id }) => respondWebhook(context, id),
  }),
  update: operation({
    route: 'PATCH /webhooks/:id',
    summary: 'Change, enable or disable a webhook',
    rights: right('update'),
    input: z.strictObject({
      name: nameInput.optional(),
      url: url.optional(),
      events: events.optional(),
      /** Values by name; null removes a header, others stay. */
      headers: z.record(headerName, headerValue.nullable()).optional(),
      isEnabled: z.boolean().optional(),
    }),
    output: webhookResponse,
    audit: audited('update'),
    run: (context, { id, ...values }) =>
      act(context, async (transaction, now) => {
        const before = await readWebhook(transaction, id)
        const { headers = {} } = values
        const after = { ...before, ...values, headers: mergeHeaders(before.headers, headers) }
        const isElsewhere = parseOrigin(after.url) !== parseOrigin(before.url)
        if (isElsewhere) refuseHeadersElsewhere(before.headers, headers)
        // Unknown events may stay.
        await checkValues(context, transaction, values.events === undefined ? { ...after, events: [] } : after, id)
        await updateWebhook(transaction, id, after)
        // One receiver must not be able to replay events to another.
        if (isElsewhere) await replaceSecret(transaction, id, now)
        return { id: String(id), name: before.name, fields: Object.keys(values) }
      }),
    respond: (context, { id }) => respondWebhook(context, id),
  }),
  delete: operation({
    route: 'DELETE /webhooks/:id',
    summary: 'Delete a webhook with its deliveries',
    rights: right('delete'),
    output: null,
    audit: audited('delete'),
    run: (context, { id }) =>
      act(context, async (transaction) => {
        const { name } = await readWebhook(transaction, id)
        await deleteWebhook(transaction, id)
        return { id: String(id), name }
      }),
  }),
  rotateSecret: operation({
    route: 'POST /webhooks/:id/secret',
    summary: 'Replace the signing secret of a webhook; the new one is shown once',
    rights: right('update'),
    isStrong: true,
    isSecret: true,
    output: z.strictObject({ data: z.strictObject({ secret: z.string() }) }),
    audit: audited('update'),
    run: (context, { id }) =>
      act(context, async (transaction, now) => {
        const { name } = await readWebhook(transaction, id)
        return { id: String(id), name, fields: ['secret'], responseData: await rotateSecret(transaction, id, now) }
      }),
    respond: async (_context, _input, { responseData }) => ({ data: { secret: String(responseData) } }),
  }),
}

const deliveries = {
  test: operation({
    route: 'POST /webhooks/:id/test',
    summary: 'Send the test event to a webhook at once',
    rights: right('update'),
    attempts: { name: 'webhook-test', counted: 'all' },
    output: z.strictObject({ data: z.strictObject({ status: z.int(), error: z.string().nullable(), duration: z.number() }) }),
    respond: async (context, { id }) => {
      const { status, error, duration } = await testWebhook(context, await readWebhook(context.database, id), context.now())
      return { data: { status, error, duration } }
    },
  }),
  listAttempts: operation({
    route: 'GET /webhooks/:id/deliveries',
    summary: 'List attempts to deliver events, the latest first',
    rights: right('read'),
    input: z.strictObject(pageInput),
    output: z.strictObject({ data: z.array(shownAttempt), meta: pageMeta }),
    respond: async ({ database }, { id: webhook, after, limit }) => {
      await readWebhook(database, webhook)
      const list = ['deliveries', webhook]
      const rows = await readAttempts(database, webhook, limit + 1, parseCursor(after, list))
      const { shown, meta } = toPage(rows, limit, list, ({ id }) => id)
      return {
        data: shown.map(({ webhook: _webhook, attemptedAt, ...rest }) => ({ ...rest, attemptedAt: toTimestamp(attemptedAt) })),
        meta,
      }
    },
  }),
  listUnfinished: operation({
    route: 'GET /webhooks/:id/unfinished',
    summary: 'List the first events that wait, or that were given up',
    rights: right('read'),
    input: z.strictObject({ state: z.enum(['waiting', 'failed']).default('failed'), limit: pageInput.limit }),
    output: z.strictObject({ data: z.array(unfinished) }),
    respond: async ({ database }, { id, state, limit }) => {
      await readWebhook(database, id)
      const rows = await unfinishedEvents(database, id, state, limit)
      const data = rows.map(({ sequence, event = null, subject = null, attempts, dueAt }) => ({
        sequence,
        event,
        subject,
        attempts,
        dueAt: dueAt === 0 ? null : toTimestamp(dueAt),
      }))
      return { data }
    },
  }),
  resend: operation({
    route: 'POST /webhooks/:id/resend',
    summary: 'Deliver events again',
    rights: right('update'),
    input: resend,
    output: z.strictObject({ data: z.strictObject({ count: z.int() }) }),
    audit: audited('resend'),
    run: async (context, { id, ...which }) => {
      const webhook = await readWebhook(context.database, id)
      if (!webhook.isEnabled) throw new ApiError('ApplicationError', 'The webhook is disabled')
      const heads = await findEvents(context, webhook, which)
      const done = { id: String(id), name: webhook.name, responseData: heads.length }
      await act(context, async (transaction) => {
        resendEvents(transaction, id, heads)
        return heads.length === 0 ? null : done
      })
      return done
    },
    respond: async (_context, _input, { responseData }) => ({ data: { count: Number(responseData) } }),
  }),
}

/** The operations on webhooks. */
export const webhooks = { ...managing, ...deliveries }
