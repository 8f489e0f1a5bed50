// /webhooks: webhooks and their deliveries. Values of headers and secrets are shown only once.
import * as z from 'zod'
import {
  changeManagedWebhook,
  createManagedWebhook,
  deleteManagedWebhook,
  type ManagedWebhook,
  managedWebhook,
  managedWebhooks,
  resendManagedEvents,
  rotateWebhookSecret,
  testWebhook,
  unfinishedEvents,
  webhookAttempts,
} from '../../../admin/manage/webhooks.js'
import { type Resource, type ResourceRequest, resource, respond, respondNothing } from '../resource.js'
import { byId, nameInput, pageInput, pageMeta, parseCursor, timestamp, toPage, toTimestamp, toTimestampOrNull } from '../values.js'

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
const one = z.strictObject({ data: shownWebhook })

const shown = ({ id, name, url, headers, events, isEnabled, state }: ManagedWebhook): z.input<typeof shownWebhook> => ({
  id,
  name,
  url,
  headers: Object.keys(headers),
  events: [...events],
  isEnabled,
  waiting: state.waiting,
  failed: state.failed,
  pausedUntil: toTimestampOrNull(state.pausedUntil),
  last: state.last === null ? null : { status: state.last.status, attemptedAt: toTimestamp(state.last.attemptedAt) },
})

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

const action = (name: string) => ({ action: `admin::webhooks.${name}` })
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

/** A new webhook and its secret as a response. */
async function respondNew({ administration }: ResourceRequest, { id, secret }: { readonly id: number; readonly secret: string }) {
  return respond({ data: shown(await managedWebhook(administration, id)), secret })
}

const managing: readonly Resource[] = [
  resource({
    method: 'GET',
    path: '/webhooks',
    summary: 'List webhooks',
    who: action('read'),
    response: z.strictObject({ data: z.array(shownWebhook) }),
    handle: async ({ administration }) => respond({ data: (await managedWebhooks(administration)).map(shown) }),
  }),
  resource({
    method: 'POST',
    path: '/webhooks',
    summary: 'Create a webhook; its signing secret is shown once',
    who: action('create'),
    status: 201,
    isSecret: true,
    body: z.strictObject({
      name: nameInput,
      url,
      events,
      headers: z.record(headerName, headerValue).default({}),
      isEnabled: z.boolean().default(true),
    }),
    response: z.strictObject({ data: shownWebhook, secret: z.string() }),
    handle: async (context) => respondNew(context, await createManagedWebhook(context.administration, context.actor, context.body)),
    respondAgain: (context, { ids, responseData: told }) => respondNew(context, { id: Number(ids[0]), secret: String(told) }),
  }),
  resource({
    method: 'GET',
    path: '/webhooks/:id',
    summary: 'Read a webhook',
    who: action('read'),
    params: byId,
    response: one,
    handle: async ({ administration, params }) => respond({ data: shown(await managedWebhook(administration, params.id)) }),
  }),
  resource({
    method: 'PATCH',
    path: '/webhooks/:id',
    summary: 'Change, enable or disable a webhook',
    who: action('update'),
    params: byId,
    body: z.strictObject({
      name: nameInput.optional(),
      url: url.optional(),
      events: events.optional(),
      /** Values by name; null removes a header, others stay. */
      headers: z.record(headerName, headerValue.nullable()).optional(),
      isEnabled: z.boolean().optional(),
    }),
    response: one,
    handle: async ({ administration, actor, params, body }) => {
      await changeManagedWebhook(administration, actor, params.id, body)
      return respond({ data: shown(await managedWebhook(administration, params.id)) })
    },
  }),
  resource({
    method: 'DELETE',
    path: '/webhooks/:id',
    summary: 'Delete a webhook with its deliveries',
    who: action('delete'),
    params: byId,
    response: null,
    handle: async ({ administration, actor, params }) => {
      await deleteManagedWebhook(administration, actor, params.id)
      return respondNothing()
    },
  }),
  resource({
    method: 'POST',
    path: '/webhooks/:id/secret',
    summary: 'Replace the signing secret of a webhook; the new one is shown once',
    who: action('update'),
    isStrong: true,
    isSecret: true,
    params: byId,
    body: z.strictObject({}),
    response: z.strictObject({ data: z.strictObject({ secret: z.string() }) }),
    handle: async ({ administration, actor, params }) =>
      respond({ data: { secret: await rotateWebhookSecret(administration, actor, params.id) } }),
    respondAgain: async (_context, { responseData: told }) => respond({ data: { secret: String(told) } }),
  }),
]

const deliveries: readonly Resource[] = [
  resource({
    method: 'POST',
    path: '/webhooks/:id/test',
    summary: 'Send the test event to a webhook at once',
    who: action('update'),
    attempts: { name: 'webhook-test', counted: 'all' },
    params: byId,
    body: z.strictObject({}),
    response: z.strictObject({ data: z.strictObject({ status: z.int(), error: z.string().nullable(), duration: z.number() }) }),
    handle: async ({ administration, params }) => {
      const { status, error, duration } = await testWebhook(administration, params.id)
      return respond({ data: { status, error, duration } })
    },
  }),
  resource({
    method: 'GET',
    path: '/webhooks/:id/deliveries',
    summary: 'List attempts to deliver events, the latest first',
    who: action('read'),
    params: byId,
    query: z.strictObject(pageInput),
    response: z.strictObject({ data: z.array(shownAttempt), meta: pageMeta }),
    handle: async ({ administration, params, query: { after, limit } }) => {
      const list = ['deliveries', params.id]
      const rows = await webhookAttempts(administration, params.id, { before: parseCursor(after, list), limit: limit + 1 })
      const page = toPage(rows, limit, list, ({ id }) => id)
      const data = page.shown.map(({ webhook: _webhook, attemptedAt, ...attempt }) => ({
        ...attempt,
        attemptedAt: toTimestamp(attemptedAt),
      }))
      return respond({ data, meta: page.meta })
    },
  }),
  resource({
    method: 'GET',
    path: '/webhooks/:id/unfinished',
    summary: 'List the first events that wait, or that were given up',
    who: action('read'),
    params: byId,
    query: z.strictObject({ state: z.enum(['waiting', 'failed']).default('failed'), limit: pageInput.limit }),
    response: z.strictObject({ data: z.array(unfinished) }),
    handle: async ({ administration, params, query }) => {
      const rows = await unfinishedEvents(administration, params.id, query)
      const data = rows.map(({ sequence, event = null, subject = null, attempts, dueAt }) => ({
        sequence,
        event,
        subject,
        attempts,
        dueAt: dueAt === 0 ? null : toTimestamp(dueAt),
      }))
      return respond({ data })
    },
  }),
  resource({
    method: 'POST',
    path: '/webhooks/:id/resend',
    summary: 'Deliver events again',
    who: action('update'),
    params: byId,
    body: resend,
    response: z.strictObject({ data: z.strictObject({ count: z.int() }) }),
    handle: async ({ administration, actor, params, body }) =>
      respond({ data: { count: await resendManagedEvents(administration, actor, params.id, body) } }),
    respondAgain: async (_context, { responseData: told }) => respond({ data: { count: Number(told) } }),
  }),
]

/** The resources of webhooks. */
export const webhookResources: readonly Resource[] = [...managing, ...deliveries]
