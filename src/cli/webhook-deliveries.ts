// `octavo webhooks trigger`, `deliveries` and `resend`: what has become of events that were sent to a webhook, and sending them again.
import type { Config } from '../config/config.js'
import type { MainConnection } from '../database/database.js'
import { ConfigError } from '../errors/errors.js'
import { readUnfinished, type UnfinishedDelivery } from '../events/delivery-rows.js'
import { type EventHead, type EventLog, openEventLog } from '../events/event-log.js'
import { openAddressRules } from '../events/webhooks/addresses.js'
import { readAttempts, type WebhookAttempt } from '../events/webhooks/attempts.js'
import { requestOf } from '../events/webhooks/request.js'
import { ensureSecrets, signingSecrets } from '../events/webhooks/secrets.js'
import { openSender, type WebhookResponse } from '../events/webhooks/send.js'
import { consumerOf, findWebhook, type Webhook } from '../events/webhooks/webhook.js'
import { resendEvents } from '../events/webhooks/write.js'
import { whole } from './events.js'
import { orExplain } from './explain-error.js'
import { lookIntoProject, moment, print, printTable, withProject } from './project.js'

/** Sends Strapi's test event. @throws ConfigError if the webhook does not respond with success */
export const triggerWebhookCommand = orExplain(async (nameOrId: string, folder: string) => {
  const { name, response } = await withProject(folder, async ({ config, database, writer }) => {
    const webhook = await findWebhook(database, nameOrId)
    const now = Date.now()
    const secrets = signingSecrets(await ensureSecrets(database, writer, webhook.id), now)
    return { name: webhook.name, response: await sendTest(config, webhook, secrets, now) }
  })
  const { status, error, duration } = response
  if (status === 0) throw new ConfigError(`Webhook "${name}" did not respond: ${error}.`)
  if (status < 200 || status > 299) throw new ConfigError(`Webhook "${name}" responded ${status}${error === null ? '' : `: ${error}`}`)
  print(`Webhook "${name}" responded ${status} in ${duration} ms.`)
})

async function sendTest({ webhooks, limits }: Config, webhook: Webhook, secrets: readonly string[], now: number): Promise<WebhookResponse> {
  const event = 'trigger-test'
  const body = JSON.stringify({ event, createdAt: new Date(now).toISOString() })
  const request = requestOf(webhook, webhooks.defaultHeaders, { id: `evt_test_${now.toString(36)}`, event, body, secrets, now })
  if (typeof request === 'string') throw new ConfigError(`${request}.`)
  const sender = openSender(openAddressRules(webhooks.allowPrivateAddresses, limits), limits)
  try {
    return await sender.send(request)
  } finally {
    sender.close()
  }
}

/** Options of `octavo webhooks deliveries`. */
interface DeliveryListOptions {
  readonly waiting?: boolean
  readonly failed?: boolean
  readonly limit: string
  readonly json?: boolean
}

/** Prints attempts, or events that wait or were given up. */
export const listDeliveriesCommand = orExplain(async (nameOrId: string, folder: string, options: DeliveryListOptions) => {
  const { waiting = false, failed = false, json = false } = options
  if (waiting && failed) throw new ConfigError('Use either --waiting or --failed.')
  const limit = whole('--limit', options.limit)
  const state = waiting ? 'waiting' : failed ? 'failed' : null
  await lookIntoProject(folder, async ({ database }) => {
    const { id } = await findWebhook(database, nameOrId)
    if (state === null) return printAttempts(await readAttempts(database, id, limit), json)
    const rows = (await readUnfinished(database, consumerOf(id), state)).slice(0, limit)
    return printUnfinished(await withHeads(database, rows), json)
  })
})

function printAttempts(attempts: readonly WebhookAttempt[], json: boolean): void {
  if (json) {
    print(JSON.stringify(attempts, null, 2))
    return
  }
  printTable(
    ['sequence', 'event', 'about', 'attempt', 'result', 'ms', 'when'],
    attempts.map(({ sequence, event, subject, attempt, status, error, duration, attemptedAt }) => [
      String(sequence),
      event,
      subject,
      String(attempt),
      status === 0 ? (error ?? 'no response') : String(status),
      String(duration),
      moment(attemptedAt),
    ]),
  )
}

type Unfinished = UnfinishedDelivery & Partial<Pick<EventHead, 'event' | 'subject'>>

async function withHeads(database: Pick<MainConnection, 'rows'>, rows: readonly UnfinishedDelivery[]): Promise<readonly Unfinished[]> {
  const log = openEventLog(database)
  const found: Unfinished[] = []
  for (const row of rows) {
    const event = await log.read(row.sequence)
    found.push(event === null ? row : { ...row, event: event.event, subject: event.subject })
  }
  return found
}

function printUnfinished(rows: readonly Unfinished[], json: boolean): void {
  if (json) {
    print(JSON.stringify(rows, null, 2))
    return
  }
  printTable(
    ['sequence', 'event', 'about', 'attempts', 'next attempt'],
    rows.map(({ sequence, event = '-', subject = 'no longer in the outbox', attempts, dueAt }) => [
      String(sequence),
      event,
      subject,
      String(attempts),
      dueAt === 0 ? '-' : moment(dueAt),
    ]),
  )
}

/** Options of `octavo webhooks resend`. */
interface ResendOptions {
  readonly failed?: boolean
  readonly after?: string
  readonly sequence?: string
}

/** Has events delivered again. */
export const resendCommand = orExplain(async (nameOrId: string, folder: string, options: ResendOptions) => {
  if (Object.keys(options).length !== 1) throw new ConfigError('Use one of --failed, --after and --sequence.')
  const count = await withProject(folder, async ({ config, database, writer }) => {
    const webhook = await findWebhook(database, nameOrId)
    if (!webhook.isEnabled) throw new ConfigError(`Webhook "${webhook.name}" is disabled. Enable it first: octavo webhooks enable`)
    const waiting = (await readUnfinished(database, consumerOf(webhook.id), 'waiting')).length
    const free = config.limits.webhookWaiting - waiting
    const heads = await headsOf(database, webhook, options, free)
    if (heads.length > free)
      throw new ConfigError(`More than ${free} events would wait (limits.webhookWaiting). Send some of them first, by --sequence.`)
    await writer.transaction(async (transaction) => resendEvents(transaction, webhook.id, heads))
    return heads.length
  })
  print(count === 0 ? 'There are no such events.' : `${count} ${count === 1 ? 'event' : 'events'} will be sent again.`)
})

/** The events after a sequence that a webhook wants, at most `limit`. */
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

/** Events that are read at once. */
const batchSize = 500

/** The events that are meant; at most one more than `most`. */
async function headsOf(
  database: Pick<MainConnection, 'rows'>,
  webhook: Webhook,
  { failed = false, after, sequence }: ResendOptions,
  most: number,
): Promise<readonly EventHead[]> {
  const log = openEventLog(database)
  if (after !== undefined) return wantedAfter(log, webhook, whole('--after', after), most + 1)
  const wanted = failed
    ? (await readUnfinished(database, consumerOf(webhook.id), 'failed')).map((row) => row.sequence)
    : [...new Set(sequence!.split(','))].map((number) => whole('--sequence', number.trim()))
  const found: EventHead[] = []
  for (const number of wanted.slice(0, most + 1)) {
    const event = await log.read(number)
    if (event !== null) found.push(event)
    else if (!failed) throw new ConfigError(`Event ${number} is not in the outbox. It keeps the last ones (limits.outboxEvents).`)
  }
  return found
}
